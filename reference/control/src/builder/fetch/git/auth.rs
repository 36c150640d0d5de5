//! HTTP authentication of Git.

use gix::sec::identity::Account;
use gix::url::Scheme;
use reqwest::{Certificate, Identity};

use super::super::http::check_header;
use super::{BuildError, Credentials};

/// Authentication of fetches over http.
#[derive(Debug, Default)]
pub(super) struct Auth {
    pub(super) identity: Option<Account>,
    pub(super) headers: Vec<String>,
    /// Certificate authorities that replace those of the system, if any.
    pub(super) authorities: Vec<Certificate>,
    /// Client certificate.
    pub(super) certificate: Option<Identity>,
}

impl Auth {
    /// Converts credentials.
    ///
    /// # Errors
    /// When they cannot be used over http.
    pub(super) fn new(
        url: &gix::Url,
        credentials: Option<&Credentials>,
    ) -> Result<Self, BuildError> {
        match credentials {
            None => Ok(Self::default()),
            Some(Credentials::BasicAuth {
                username,
                password,
                headers,
            }) => {
                for line in headers {
                    let (name, _) = line.split_once(':').unwrap_or((line, ""));
                    check_header(name.trim())?;
                    if line.contains(['\r', '\n', '\0']) {
                        return Err(BuildError::config(
                            "git: a header of the credentials cannot be sent",
                        ));
                    }
                }
                Ok(Self {
                    identity: account(username, password),
                    headers: headers.clone(),
                    ..Self::default()
                })
            }
            Some(Credentials::TokenAuth { token }) => Ok(Self {
                // User name that hosts expect with a token as the password; most ignore it.
                identity: account("x-access-token", token),
                ..Self::default()
            }),
            Some(Credentials::TlsCert(tls)) if url.scheme == Scheme::Https => {
                let (authorities, certificate) = tls.read()?;
                Ok(Self {
                    authorities,
                    certificate,
                    ..Self::default()
                })
            }
            Some(other) => Err(other.unsupported("this kind of repository")),
        }
    }
}

fn account(username: &str, password: &str) -> Option<Account> {
    Some(Account {
        username: username.to_owned(),
        password: password.to_owned(),
        oauth_refresh_token: None,
    })
}
