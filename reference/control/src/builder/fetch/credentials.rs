//! Credentials for fetches, from secrets.

use std::collections::BTreeMap;
use std::fmt;

use reqwest::{Certificate, Identity};
use serde::Deserialize;
use serde_json::Value;
use zeroize::Zeroizing;

use super::BuildError;
use crate::model::{Secret, wipe};
use crate::secret_allowlist::SecretAllowlist;

/// Value of a secret, by its type.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Credentials {
    /// User name and password, and additional headers (`NAME: VALUE`).
    BasicAuth {
        username: String,
        password: String,
        #[serde(default)]
        headers: Vec<String>,
    },
    /// Bearer token.
    TokenAuth { token: String },
    /// API key in a header or in the query of the URL.
    ApiKey {
        key: String,
        value: String,
        #[serde(default, rename = "in")]
        place: KeyPlace,
    },
    /// Private key, and the fingerprints of the hosts that it may be used for.
    SshKey {
        key: String,
        #[serde(default)]
        passphrase: String,
        #[serde(default)]
        fingerprints: Vec<String>,
    },
    /// Access key of Amazon Web Services or of a compatible service.
    AwsAuth {
        access_key_id: String,
        secret_access_key: String,
        #[serde(default)]
        session_token: String,
    },
    /// OAuth 2.0 client credentials.
    #[serde(rename = "oidc_client_credentials")]
    Oidc(ClientCredentials),
    /// Key that signs token requests of a GitHub App.
    #[serde(rename = "github_app_auth")]
    GithubApp(GithubApp),
    /// Trusted certificates and client certificate for TLS.
    TlsCert(TlsCert),
}

/// Location of an API key in a request.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyPlace {
    /// Header with the name of the key.
    #[default]
    Header,
    /// Query parameter with the name of the key.
    Query,
}

/// OAuth 2.0 client credentials.
#[derive(Deserialize)]
pub(super) struct ClientCredentials {
    /// Issuer whose discovery document names the token endpoint, if `token_endpoint` is empty.
    #[serde(default)]
    pub(super) issuer: String,
    /// Token endpoint.
    #[serde(default)]
    pub(super) token_endpoint: String,
    pub(super) client_id: String,
    pub(super) client_secret: String,
    #[serde(default)]
    pub(super) scopes: Vec<String>,
}

/// Key that signs token requests of a GitHub App.
#[derive(Deserialize)]
pub(super) struct GithubApp {
    /// App id.
    pub(super) integration_id: u64,
    /// Installation id.
    pub(super) installation_id: u64,
    /// RSA key of the app, in PEM.
    pub(super) private_key: String,
}

/// Trusted certificates and client certificate for TLS, all in PEM.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct TlsCert {
    /// Certificate authorities that replace those of the system, if any.
    root_ca: String,
    /// Client certificate, with intermediate certificates.
    tls_cert: String,
    /// Private key of the certificate.
    tls_key: String,
}

impl TlsCert {
    /// Parses the authorities, and the client certificate with its key.
    ///
    /// # Errors
    /// When one of them is invalid, or there is a certificate without a key or a key without a
    /// certificate.
    pub(super) fn read(&self) -> Result<(Vec<Certificate>, Option<Identity>), BuildError> {
        let refused = |what: &str| BuildError::config(format!("tls_cert: {what}"));
        let authorities = Certificate::from_pem_bundle(self.root_ca.as_bytes());
        let authorities = authorities
            .ok()
            .filter(|read| read.is_empty() == self.root_ca.is_empty())
            .ok_or_else(|| refused("root_ca holds no certificates in PEM"))?;
        let identity = match (self.tls_cert.as_str(), self.tls_key.as_str()) {
            ("", "") => None,
            (cert, key) => {
                let pem = Zeroizing::new(format!("{cert}\n{key}\n"));
                let identity = Identity::from_pem(pem.as_bytes());
                let invalid = |_| {
                    refused(
                        "invalid tls_cert and tls_key: expected a certificate and its key in PEM",
                    )
                };
                Some(identity.map_err(invalid)?)
            }
        };
        Ok((authorities, identity))
    }
}

/// Credentials, and the hosts that they may be sent to.
#[derive(Debug)]
pub(super) struct ResolvedCredentials {
    pub(super) credentials: Credentials,
    pub(super) guard: SecretAllowlist,
}

impl ResolvedCredentials {
    /// Resolves the credentials that a definition names, among the secrets that it may use.
    ///
    /// # Errors
    /// When the secret does not exist or has an invalid value. Reveals nothing of its value.
    pub(super) fn resolve(
        secrets: &BTreeMap<String, Secret>,
        name: Option<&str>,
        over_http: bool,
    ) -> Result<Option<Self>, BuildError> {
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        let Some(secret) = secrets.get(name) else {
            let message = format!("secret `{name}` does not exist");
            return Err(BuildError::config(message));
        };
        let refused = || {
            let message = format!(
                "invalid secret `{name}`: expected a type that this source supports, with all of its members"
            );
            BuildError::config(message)
        };
        let mut value: Value = serde_json::from_slice(secret.expose()).map_err(|_| refused())?;
        let parsed = Credentials::deserialize(&value).map_err(|_| refused());
        wipe(&mut value);
        let guard = SecretAllowlist::of(name, secret, over_http).map_err(BuildError::config)?;
        parsed.map(|credentials| Some(Self { credentials, guard }))
    }
}

impl Credentials {
    /// Returns the type, as in secrets.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::BasicAuth { .. } => "basic_auth",
            Self::TokenAuth { .. } => "token_auth",
            Self::ApiKey { .. } => "api_key",
            Self::SshKey { .. } => "ssh_key",
            Self::AwsAuth { .. } => "aws_auth",
            Self::Oidc(_) => "oidc_client_credentials",
            Self::GithubApp(_) => "github_app_auth",
            Self::TlsCert(_) => "tls_cert",
        }
    }

    /// Returns the error for credentials that cannot be used for a purpose.
    pub(super) fn unsupported(&self, purpose: &str) -> BuildError {
        BuildError::config(format!(
            "credentials of type {} cannot be used for {purpose}",
            self.kind()
        ))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

impl fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientCredentials")
    }
}

impl fmt::Debug for GithubApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GithubApp")
    }
}

impl fmt::Debug for TlsCert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsCert")
    }
}
