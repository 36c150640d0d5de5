//! OAuth2 credentials of services.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use rego::jwt;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::filled;
use crate::config::http_address::is_http;
use crate::config::keys::Key;
use crate::config::secret::Secret;

/// Default type of a `client_assertion`.
const JWT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Settings of an OAuth2 token from an authorization server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct OAuth2 {
    #[serde(default)]
    grant_type: GrantType,
    pub(crate) token_url: String,
    client_id: Option<String>,
    client_secret: Option<Secret>,
    /// Name of the key that signs assertions.
    signing_key: Option<String>,
    /// SHA-1 digest of the certificate of the signing key, in hexadecimal.
    thumbprint: Option<String>,
    #[serde(default)]
    pub(crate) additional_claims: Claims,
    /// Whether each assertion has a unique id.
    #[serde(default)]
    pub(crate) include_jti_claim: bool,
    client_assertion: Option<Secret>,
    client_assertion_type: Option<String>,
    client_assertion_path: Option<PathBuf>,
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    #[serde(default)]
    pub(crate) additional_headers: BTreeMap<String, Secret>,
    #[serde(default)]
    pub(crate) additional_parameters: BTreeMap<String, Secret>,
    aws_kms: Option<IgnoredAny>,
    aws_signing: Option<IgnoredAny>,
    azure_keyvault: Option<IgnoredAny>,
    azure_signing: Option<IgnoredAny>,
    /// Resolved key that `signing_key` names.
    #[serde(skip)]
    key: Option<Key>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum GrantType {
    #[default]
    ClientCredentials,
    JwtBearer,
}

/// Additional claims of assertions. Messages do not show them.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Claims(pub(crate) serde_json::Map<String, serde_json::Value>);

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Grant that a client presents to get a token.
#[derive(Debug)]
pub(crate) enum Grant<'c> {
    /// Client secret.
    Secret { id: &'c str, secret: &'c Secret },
    /// Assertion signed for each request, instead of a secret.
    SignedClient { id: Option<&'c str>, key: &'c Key },
    /// Assertion created elsewhere, instead of a secret.
    Client {
        id: &'c str,
        kind: &'c str,
        assertion: Assertion<'c>,
    },
    /// Signed assertion that is the whole grant, without a client.
    Bearer { key: &'c Key },
}

/// Source of an assertion that was created elsewhere.
#[derive(Debug)]
pub(crate) enum Assertion<'c> {
    Given(&'c Secret),
    File(&'c PathBuf),
}

impl OAuth2 {
    /// Returns the grant to present to the authorization server.
    ///
    /// # Errors
    /// When no grant is configured, or more than one.
    pub(crate) fn grant(&self) -> Result<Grant<'_>, String> {
        let key = match filled(self.signing_key.as_ref()) {
            None => None,
            Some(_) => Some(
                self.key
                    .as_ref()
                    .ok_or("the key that `signing_key` names is not configured")?,
            ),
        };
        if self.grant_type == GrantType::JwtBearer {
            let key = key.ok_or("`jwt_bearer` takes a `signing_key`")?;
            return Ok(Grant::Bearer { key });
        }
        let id = filled(self.client_id.as_ref()).map(String::as_str);
        let secret = self.client_secret.as_ref();
        let secret = secret.filter(|secret| !secret.0.is_empty());
        let inline_assertion = self.client_assertion.as_ref();
        let inline_assertion = inline_assertion.filter(|assertion| !assertion.0.is_empty());
        let inline_assertion = inline_assertion.map(Assertion::Given);
        let file = self.client_assertion_path.as_ref();
        let file = file.filter(|file| !file.as_os_str().is_empty());
        let file = file.map(Assertion::File);
        let known = || id.ok_or_else(|| "`client_id` is missing".to_owned());
        match (secret, key, inline_assertion, file) {
            (Some(secret), None, None, None) => Ok(Grant::Secret {
                id: known()?,
                secret,
            }),
            (None, Some(key), None, None) => Ok(Grant::SignedClient { id, key }),
            (None, None, Some(assertion), None) | (None, None, None, Some(assertion)) => {
                let kind = filled(self.client_assertion_type.as_ref());
                Ok(Grant::Client {
                    id: known()?,
                    kind: kind.map_or(JWT_ASSERTION, String::as_str),
                    assertion,
                })
            }
            _ => Err(
                "`oauth2` takes one of `client_secret`, `signing_key`, `client_assertion` and \
                 `client_assertion_path`"
                    .to_owned(),
            ),
        }
    }

    /// Digest of the certificate that the assertions name, if any.
    ///
    /// # Errors
    /// When the digest is not hexadecimal.
    pub(crate) fn thumbprint(&self) -> Result<Option<Vec<u8>>, String> {
        let digits = match filled(self.thumbprint.as_ref()) {
            None => return Ok(None),
            Some(digits) => digits.as_bytes(),
        };
        let (pairs, rest) = digits.as_chunks::<2>();
        let bytes = pairs.iter().map(|[high, low]| {
            let digit = |c: u8| char::from(c).to_digit(16);
            u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
        });
        let bytes: Option<Vec<u8>> = bytes.collect();
        let bytes = bytes.filter(|_| rest.is_empty());
        let wrong = || "`thumbprint` takes pairs of hexadecimal digits".to_owned();
        bytes.ok_or_else(wrong).map(Some)
    }

    /// Validates the section; the error names the unsupported or malformed member.
    pub(super) fn check(&self) -> Result<(), String> {
        if !is_http(&self.token_url) {
            return Err("`token_url` must be an HTTP address".to_owned());
        }
        let elsewhere = [
            &self.aws_kms,
            &self.aws_signing,
            &self.azure_keyvault,
            &self.azure_signing,
        ];
        if elsewhere.into_iter().any(Option::is_some) {
            return Err(
                "signing by AWS KMS or Azure Key Vault is not supported: configure a `signing_key`"
                    .to_owned(),
            );
        }
        self.thumbprint().map(drop)
    }

    /// Resolves the signing key, and validates the grant with it.
    pub(super) fn take_key(&mut self, keys: &BTreeMap<String, Key>) -> Result<(), String> {
        if let Some(name) = filled(self.signing_key.as_ref()) {
            let key = keys.get(name);
            let key = key.ok_or_else(|| format!("key `{name}` is not configured"))?;
            let private = key.private_key();
            let private = private.ok_or_else(|| format!("key `{name}` has no `private_key`"))?;
            let tried = jwt::sign("{}", "{}", key.algorithm(), private);
            tried.map_err(|error| format!("key `{name}`: {error}"))?;
            self.key = Some(key.clone());
        }
        self.grant().map(drop)
    }
}
