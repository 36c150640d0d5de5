//! Credentials of services.

mod aws;
mod clouds;
mod oauth2;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::keys::Key;
use super::seconds::Seconds;
use super::secret::Secret;
use super::tls::Tls;
pub(crate) use aws::{
    AwsAssumedRole, AwsKeys, AwsMetadata, AwsProfile, AwsSigning, AwsWebIdentity,
};
pub(crate) use clouds::{AzureIdentity, GcpMetadata, GcpToken};
pub(crate) use oauth2::{Assertion, Grant, OAuth2};

/// Credentials of the engine for a service, of at most one kind. Unlike elsewhere, unknown keys are
/// refused: otherwise a misspelt key would only show as requests that the service rejects.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    pub(crate) bearer: Option<Bearer>,
    pub(crate) client_tls: Option<ClientTls>,
    pub(crate) oauth2: Option<OAuth2>,
    pub(crate) s3_signing: Option<AwsSigning>,
    pub(crate) gcp_metadata: Option<GcpMetadata>,
    pub(crate) azure_managed_identity: Option<AzureIdentity>,
}

/// Static bearer token.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Bearer {
    pub(crate) token: Option<Secret>,
    /// File with the token, read for every request.
    pub(crate) token_path: Option<PathBuf>,
    /// Authentication scheme before the token; `Bearer` if absent.
    pub(crate) scheme: Option<String>,
}

/// Client certificate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ClientTls {
    /// File with the certificate.
    pub(crate) cert: PathBuf,
    /// File with its unencrypted private key.
    pub(crate) private_key: PathBuf,
    private_key_passphrase: Option<IgnoredAny>,
    /// Interval at which both files are reread; never if absent.
    cert_reread_interval_seconds: Option<Seconds>,
    /// Trusted authorities for the service's certificate, unless the service configures its own.
    #[serde(flatten)]
    pub(crate) tls: Tls,
}

impl ClientTls {
    /// Interval at which the files are reread, if any.
    pub(crate) fn reread(&self) -> Option<Duration> {
        let interval = self.cert_reread_interval_seconds.map(|interval| interval.0);
        interval.filter(|interval| !interval.is_zero())
    }
}

impl Credentials {
    /// Validates the credentials; the error names the unsupported or missing member.
    pub(super) fn check(&self) -> Result<(), String> {
        let kinds = [
            self.bearer.is_some(),
            self.client_tls.is_some(),
            self.oauth2.is_some(),
            self.s3_signing.is_some(),
            self.gcp_metadata.is_some(),
            self.azure_managed_identity.is_some(),
        ];
        if kinds.into_iter().filter(|is_set| *is_set).count() > 1 {
            return Err("more than one kind of credentials".to_owned());
        }
        if let Some(bearer) = &self.bearer
            && bearer.token.is_some() == bearer.token_path.is_some()
        {
            return Err("`bearer` takes either `token` or `token_path`".to_owned());
        }
        let tls = self.client_tls.as_ref();
        if tls.is_some_and(|tls| tls.private_key_passphrase.is_some()) {
            return Err("`client_tls` takes a `private_key` that is not encrypted".to_owned());
        }
        self.oauth2.as_ref().map_or(Ok(()), OAuth2::check)?;
        if let Some(metadata) = &self.gcp_metadata {
            metadata.token()?;
        }
        self.s3_signing.as_ref().map_or(Ok(()), AwsSigning::check)
    }

    /// Resolves the signing key that the credentials name, if any.
    pub(super) fn take_keys(&mut self, keys: &BTreeMap<String, Key>) -> Result<(), String> {
        match &mut self.oauth2 {
            Some(oauth2) => oauth2.take_key(keys),
            None => Ok(()),
        }
    }
}

/// Returns the value if it is present and not empty.
fn filled<T: AsRef<str>>(value: Option<&T>) -> Option<&T> {
    value.filter(|value| !value.as_ref().is_empty())
}
