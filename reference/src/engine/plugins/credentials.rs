//! What proves to a service who asks.

use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rego::Value;
use rego::value::from_json;
use tokio::sync::Mutex;

use super::aws;
use super::service::cause;
use crate::engine::config::{self, AwsSigning, Bearer, OAuth2};

/// A token is not used in the last seconds of its life.
const LEEWAY: Duration = Duration::from_secs(10);

/// How long a token lives whose giver does not say.
const LIFETIME: u64 = 60;

/// How long an authorization server may take, and the most bytes of its answer.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_TOKEN: usize = 1 << 20;

/// What forms show as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// What is added to requests.
#[derive(Debug)]
pub(super) enum Credentials {
    /// Nothing; a certificate is shown by the connection.
    None,
    Bearer(Bearer),
    OAuth2 {
        client: OAuth2,
        http: reqwest::Client,
        token: Mutex<Option<Token>>,
    },
    /// A signature with a key of AWS.
    Aws(AwsSigning),
}

/// A token until it ends.
pub(super) struct Token {
    text: String,
    end: Instant,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").finish_non_exhaustive()
    }
}

impl Credentials {
    /// The credentials that the configuration gives; tokens are fetched with `http`.
    pub(super) fn new(given: &config::Credentials, http: reqwest::Client) -> Self {
        if let Some(bearer) = &given.bearer {
            return Self::Bearer(bearer.clone());
        }
        if let Some(client) = &given.oauth2 {
            return Self::OAuth2 {
                client: client.clone(),
                http,
                token: Mutex::default(),
            };
        }
        match &given.s3_signing {
            Some(signing) => Self::Aws(signing.clone()),
            None => Self::None,
        }
    }

    /// Adds them to a request.
    ///
    /// # Errors
    /// When a file or an environment variable is missing, or no token is given.
    pub(super) async fn add(&self, request: &mut reqwest::Request) -> Result<(), String> {
        let proof = match self {
            Self::None => return Ok(()),
            Self::Aws(signing) => return aws::sign(request, signing).await,
            Self::Bearer(bearer) => {
                let scheme = bearer.scheme.as_deref().unwrap_or("Bearer");
                format!("{scheme} {}", bearer_token(bearer).await?)
            }
            Self::OAuth2 {
                client,
                http,
                token,
            } => {
                let mut token = token.lock().await;
                if token
                    .as_ref()
                    .is_none_or(|token| token.end <= Instant::now())
                {
                    *token = Some(fetch(client, http).await?);
                }
                let text = token.as_ref().map(|token| token.text.as_str());
                format!("Bearer {}", text.unwrap_or_default())
            }
        };
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, sensitive(&proof)?);
        Ok(())
    }
}

pub(super) fn sensitive(text: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| "the credentials cannot be sent in a header".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

async fn bearer_token(bearer: &Bearer) -> Result<String, String> {
    match (&bearer.token, &bearer.token_path) {
        (Some(token), _) => Ok(token.0.clone()),
        (None, Some(path)) => {
            let text = tokio::fs::read_to_string(path).await;
            let text = text.map_err(|why| format!("file `{}`: {why}", path.display()))?;
            Ok(text.trim().to_owned())
        }
        (None, None) => Err("there is no token".to_owned()),
    }
}

/// Asks the authorization server for a token.
async fn fetch(client: &OAuth2, http: &reqwest::Client) -> Result<Token, String> {
    let asked = Instant::now();
    let scopes = client.scopes.join(" ");
    let mut form = vec![("grant_type", "client_credentials")];
    if !scopes.is_empty() {
        form.push(("scope", &scopes));
    }
    let more = client.additional_parameters.iter();
    form.extend(more.map(|(name, value)| (name.as_str(), value.0.as_str())));
    let encoded = |text: &str| utf8_percent_encode(text, PLAIN).to_string();
    let pairs = form.iter();
    let pairs = pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    let body = pairs.collect::<Vec<_>>().join("&");
    let mut request = http
        .post(&client.token_url)
        .timeout(TOKEN_TIMEOUT)
        .header("content-type", "application/x-www-form-urlencoded")
        .basic_auth(
            encoded(&client.client_id),
            Some(encoded(&client.client_secret.0)),
        )
        .body(body);
    for (name, value) in &client.additional_headers {
        request = request.header(name, sensitive(&value.0)?);
    }
    let mut response = request.send().await.map_err(|why| cause(&why))?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("the authorization server replied with {status}"));
    }
    let mut text = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|why| cause(&why))? {
        if text.len().saturating_add(piece.len()) > MAX_TOKEN {
            return Err("the answer of the authorization server is too long".to_owned());
        }
        text.extend_from_slice(&piece);
    }
    let wrong = || "the authorization server gave no token".to_owned();
    let answer = from_json(&text).map_err(|_| wrong())?;
    let token = answer.get("access_token").and_then(Value::as_str);
    let lifetime = match answer.get("expires_in") {
        Some(Value::Number(seconds)) => seconds.as_i64().and_then(|given| given.try_into().ok()),
        _ => None,
    };
    let lifetime = Duration::from_secs(lifetime.unwrap_or(LIFETIME));
    let end = asked.checked_add(lifetime.saturating_sub(LEEWAY));
    Ok(Token {
        text: token.ok_or_else(wrong)?.to_owned(),
        end: end.unwrap_or(asked),
    })
}
