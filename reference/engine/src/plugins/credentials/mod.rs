//! Credentials for requests to services.

mod aws;
mod azure;
mod gcp;
mod oauth2;
mod token;
mod token_request;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderValue};
use tokio::sync::Mutex;

use crate::config::{AzureIdentity, Bearer, GcpMetadata, OAuth2, Service};
use aws::Aws;
use token::Token;

/// Credentials that are added to requests.
#[derive(Debug)]
pub(super) enum Credentials {
    /// No header; a client certificate is sent by the connection.
    None,
    Bearer {
        bearer: Bearer,
        /// Whether the token is sent in base64, as registries require.
        in_base64: bool,
    },
    /// Token of a provider, cached until it expires.
    Given {
        by: TokenProvider,
        token: Mutex<Option<Token>>,
    },
    /// AWS signature.
    Aws(Box<Aws>),
}

/// Provider of tokens.
#[derive(Debug)]
pub(super) enum TokenProvider {
    /// Authorization server, and the HTTP client of the service.
    OAuth2(Box<OAuth2>, reqwest::Client),
    /// Google Cloud metadata server.
    Gcp(GcpMetadata),
    /// Azure identity endpoint.
    Azure(AzureIdentity),
}

impl TokenProvider {
    async fn give(&self) -> Result<Token, String> {
        match self {
            Self::OAuth2(client, http) => oauth2::fetch(client, http).await,
            Self::Gcp(metadata) => gcp::fetch(metadata).await,
            Self::Azure(identity) => azure::fetch(identity).await,
        }
    }
}

impl Credentials {
    /// Creates the configured credentials of a service, whose HTTP client is `http`.
    pub(super) fn new(service: &Service, http: &reqwest::Client) -> Self {
        let credentials = &service.credentials;
        if let Some(bearer) = &credentials.bearer {
            return Self::Bearer {
                bearer: bearer.clone(),
                in_base64: service.is_registry(),
            };
        }
        if let Some(signing) = &credentials.s3_signing {
            return Self::Aws(Box::new(Aws::new(signing)));
        }
        let by = if let Some(client) = &credentials.oauth2 {
            TokenProvider::OAuth2(Box::new(client.clone()), http.clone())
        } else if let Some(metadata) = &credentials.gcp_metadata {
            TokenProvider::Gcp(metadata.clone())
        } else if let Some(identity) = &credentials.azure_managed_identity {
            TokenProvider::Azure(identity.clone())
        } else {
            return Self::None;
        };
        let token = Mutex::default();
        Self::Given { by, token }
    }

    /// Adds the credentials to a request.
    ///
    /// # Errors
    /// When a file or an environment variable is missing, or the provider returns no token.
    pub(super) async fn add(&self, request: &mut reqwest::Request) -> Result<(), String> {
        let proof = match self {
            Self::None => return Ok(()),
            Self::Aws(aws) => return aws.sign(request).await,
            Self::Bearer { bearer, in_base64 } => {
                let scheme = bearer.scheme.as_deref().unwrap_or("Bearer");
                let token = bearer_token(bearer).await?;
                match in_base64 {
                    true => format!("{scheme} {}", STANDARD.encode(token)),
                    false => format!("{scheme} {token}"),
                }
            }
            Self::Given { by, token } => {
                let mut cached = token.lock().await;
                let token = match cached.take().filter(Token::lives) {
                    Some(token) => cached.insert(token),
                    None => cached.insert(by.give().await?),
                };
                format!("Bearer {}", token.text())
            }
        };
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, sensitive(&proof)?);
        Ok(())
    }
}

fn sensitive(text: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| "the credentials cannot be sent in a header".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

async fn bearer_token(bearer: &Bearer) -> Result<String, String> {
    match (&bearer.token, &bearer.token_path) {
        (Some(token), _) => Ok(token.0.clone()),
        (None, Some(path)) => Ok(text(path).await?.trim().to_owned()),
        (None, None) => Err("there is no token".to_owned()),
    }
}

/// Reads a file as a string.
async fn text(path: &std::path::Path) -> Result<String, String> {
    let text = tokio::fs::read_to_string(path).await;
    text.map_err(|error| format!("file `{}`: {error}", path.display()))
}

/// Value of an environment variable, if set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
