//! Credentials of fetches, from secrets.

use std::collections::BTreeMap;
use std::fmt;

use reqwest::{Certificate, Identity};
use serde::Deserialize;
use serde_json::Value;
use zeroize::Zeroizing;

use super::FetchError;
use crate::control::model::{Secret, wipe};
use crate::control::secret_allowlist::SecretAllowlist;

/// The value of a secret, by its type.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Credentials {
    /// A name and a password, and headers (`NAME: VALUE`) that go with them.
    BasicAuth {
        username: String,
        password: String,
        #[serde(default)]
        headers: Vec<String>,
    },
    /// A token that whoever bears it may use.
    TokenAuth { token: String },
    /// A key in a header or in the query of the address.
    ApiKey {
        key: String,
        value: String,
        #[serde(default, rename = "in")]
        place: KeyPlace,
    },
    /// A private key, and the fingerprints of the hosts that it may be shown to.
    SshKey {
        key: String,
        #[serde(default)]
        passphrase: String,
        #[serde(default)]
        fingerprints: Vec<String>,
    },
    /// A key of Amazon Web Services or of what is compatible with it.
    AwsAuth {
        access_key_id: String,
        secret_access_key: String,
        #[serde(default)]
        session_token: String,
    },
    /// What a token can be had for.
    #[serde(rename = "oidc_client_credentials")]
    Oidc(ClientCredentials),
    /// Who signs requests for tokens of a GitHub App.
    #[serde(rename = "github_app_auth")]
    GithubApp(GithubApp),
    /// How a server is recognised, and what certificate is shown to it.
    TlsCert(TlsCert),
}

/// Where a key stands in a request.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyPlace {
    /// A header of its name.
    #[default]
    Header,
    /// A parameter of its name.
    Query,
}

/// What a token can be had for.
#[derive(Deserialize)]
pub(super) struct ClientCredentials {
    /// Who says where tokens are given out, if that is not said here.
    #[serde(default)]
    pub(super) issuer: String,
    /// Where tokens are given out.
    #[serde(default)]
    pub(super) token_endpoint: String,
    pub(super) client_id: String,
    pub(super) client_secret: String,
    #[serde(default)]
    pub(super) scopes: Vec<String>,
}

/// Who signs requests for tokens of a GitHub App.
#[derive(Deserialize)]
pub(super) struct GithubApp {
    /// The number of the app.
    pub(super) integration_id: u64,
    /// The number of its installation.
    pub(super) installation_id: u64,
    /// The app's RSA key, in PEM.
    pub(super) private_key: String,
}

/// How a server is recognised, and what certificate is shown to it, all in PEM.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct TlsCert {
    /// The authorities that count instead of the system's, if any.
    root_ca: String,
    /// The client's certificate, with the authorities in between.
    tls_cert: String,
    /// The key of the certificate.
    tls_key: String,
}

impl TlsCert {
    /// The authorities, and the client's certificate with its key.
    ///
    /// # Errors
    /// When one of them cannot be read, or there is a certificate without a key or a key without
    /// a certificate.
    pub(super) fn read(&self) -> Result<(Vec<Certificate>, Option<Identity>), FetchError> {
        let refused = |what: &str| FetchError::config(format!("tls_cert: {what}"));
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
                let unfit = |_| {
                    refused(
                        "invalid tls_cert and tls_key: expected a certificate and its key in PEM",
                    )
                };
                Some(identity.map_err(unfit)?)
            }
        };
        Ok((authorities, identity))
    }
}

/// Credentials, and where they may be sent.
#[derive(Debug)]
pub(super) struct ResolvedCredentials {
    pub(super) credentials: Credentials,
    pub(super) guard: SecretAllowlist,
}

impl ResolvedCredentials {
    /// The credentials that a definition names, which is one that may use these secrets.
    ///
    /// # Errors
    /// When the secret is not there or has another shape. Says nothing of its value.
    pub(super) fn of(
        secrets: &BTreeMap<String, Secret>,
        name: Option<&str>,
        over_http: bool,
    ) -> Result<Option<Self>, FetchError> {
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        let Some(secret) = secrets.get(name) else {
            let message = format!("secret `{name}` does not exist");
            return Err(FetchError::config(message));
        };
        let refused = || {
            let message = format!(
                "secret `{name}` has no type that can be used here, or lacks a member of its type"
            );
            FetchError::config(message)
        };
        let mut value: Value = serde_json::from_slice(secret.expose()).map_err(|_| refused())?;
        let read = Credentials::deserialize(&value).map_err(|_| refused());
        wipe(&mut value);
        let guard = SecretAllowlist::of(name, secret, over_http).map_err(FetchError::Config)?;
        read.map(|credentials| Some(Self { credentials, guard }))
    }
}

impl Credentials {
    /// The type, as secrets name it.
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

    /// The refusal of credentials that cannot be used for something.
    pub(super) fn unfit(&self, purpose: &str) -> FetchError {
        FetchError::config(format!(
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
