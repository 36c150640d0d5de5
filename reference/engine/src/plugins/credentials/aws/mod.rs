//! AWS Signature Version 4, and the sources of its keys.

mod metadata;
mod profile;
mod sts;

use std::fmt;
use std::time::{Duration, SystemTime};

use chrono::DateTime;
use http::header::HeaderName;
use rego::aws::{Signer, UnsignedRequest};
use tokio::sync::Mutex;

use super::{sensitive, variable};
use crate::config::{AwsKeys, AwsSigning};

/// AWS service that requests are signed for by default.
const SERVICE: &str = "s3";

/// Timeout of requests to the services that provide keys.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Time before the expiry of a temporary key during which the key is not used any more.
const LEEWAY: Duration = Duration::from_secs(300);

/// AWS access key.
#[derive(Clone)]
pub(in crate::plugins) struct Key {
    access: String,
    secret: String,
    region: String,
    /// Session token of a temporary key.
    token: Option<String>,
    /// Expiry, if the key is temporary.
    end: Option<SystemTime>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl Key {
    /// Parses a temporary key with an expiry in RFC 3339; messages name its provider by `whose`.
    ///
    /// # Errors
    /// When a member is missing or malformed.
    fn temporary(whose: &str, region: String, parts: [Option<&str>; 4]) -> Result<Self, String> {
        let [access, secret, token, end] = parts;
        let part = |name: &str, value: Option<&str>| {
            let value = value.filter(|value| !value.is_empty());
            value
                .map(str::to_owned)
                .ok_or_else(|| format!("{whose} gave no `{name}`"))
        };
        let end = part("Expiration", end)?;
        let end = DateTime::parse_from_rfc3339(&end);
        let end = end
            .map_err(|_| format!("invalid `Expiration` from {whose}: expected an RFC 3339 time"))?;
        Ok(Self {
            access: part("AccessKeyId", access)?,
            secret: part("SecretAccessKey", secret)?,
            region,
            token: token.map(str::to_owned),
            end: Some(end.into()),
        })
    }

    /// Whether the key is temporary and still valid.
    fn lives(&self) -> bool {
        let soon = SystemTime::now().checked_add(LEEWAY);
        self.end
            .is_some_and(|end| soon.is_some_and(|soon| soon < end))
    }
}

/// Signer of requests to an AWS service.
#[derive(Debug)]
pub(in crate::plugins) struct Aws {
    signing: AwsSigning,
    /// The cached temporary key.
    cached_key: Mutex<Option<Key>>,
}

impl Aws {
    /// Creates a signer for this configuration.
    pub(super) fn new(signing: &AwsSigning) -> Self {
        Self {
            signing: signing.clone(),
            cached_key: Mutex::default(),
        }
    }

    /// Signs a request.
    ///
    /// # Errors
    /// When no key is available, or the request cannot be signed.
    pub(super) async fn sign(&self, request: &mut reqwest::Request) -> Result<(), String> {
        let key = self.key().await?;
        let service = self.signing.service.as_deref().unwrap_or(SERVICE);
        sign(request, service, &key)
    }

    /// Returns the cached key, or the key of the first source that has one.
    async fn key(&self) -> Result<Key, String> {
        let mut cached_key = self.cached_key.lock().await;
        if let Some(key) = cached_key.take().filter(Key::lives) {
            return Ok(cached_key.insert(key).clone());
        }
        let mut failures = Vec::new();
        for keys in self.signing.keys() {
            let found = match keys {
                AwsKeys::AssumedRole(role) => sts::assumed(role).await,
                keys => own(keys, false).await,
            };
            match found {
                Ok(key) => return Ok(cached_key.insert(key).clone()),
                Err(error) => failures.push(error),
            }
        }
        Err(failures.join("; "))
    }
}

/// Requests a key from a source that needs no other key. With `within`, the key only serves to
/// assume a role.
async fn own(keys: AwsKeys<'_>, within: bool) -> Result<Key, String> {
    match keys {
        AwsKeys::Environment => from_environment(),
        AwsKeys::Profile(config) => profile::key(config).await,
        AwsKeys::WebIdentity(identity) => sts::identified(identity, within).await,
        AwsKeys::Metadata(config) => metadata::key(config).await,
        AwsKeys::AssumedRole(_) => {
            Err("a role cannot be assumed with the key of another assumed role".to_owned())
        }
    }
}

/// Signs a request with a key, for a service.
fn sign(request: &mut reqwest::Request, service: &str, key: &Key) -> Result<(), String> {
    let body = request.body().and_then(reqwest::Body::as_bytes);
    // Text bodies are signed; a compressed body is sent without a signature of its content.
    let body = std::str::from_utf8(body.unwrap_or_default());
    let headers = request.headers().iter();
    let headers = headers.filter(|(name, _)| name.as_str().starts_with("x-amz-"));
    let headers: Vec<(String, String)> = headers
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    let signer = Signer {
        service,
        access_key: &key.access,
        secret_key: &key.secret,
        region: &key.region,
        token: key.token.as_deref(),
        unsigned_payload: body.is_err(),
    };
    let unsigned = UnsignedRequest {
        method: request.method().as_str(),
        url: request.url().as_str(),
        headers: &headers,
        body: body.unwrap_or_default(),
    };
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = i64::try_from(since.map_err(|error| error.to_string())?.as_secs());
    let signed = signer.sign_request(&unsigned, now.map_err(|error| error.to_string())?)?;
    for (name, value) in &signed {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
        request.headers_mut().insert(name, sensitive(value)?);
    }
    Ok(())
}

fn from_environment() -> Result<Key, String> {
    let required =
        |name: &str| variable(name).ok_or_else(|| format!("no {name} set in environment"));
    let token = variable("AWS_SECURITY_TOKEN").or_else(|| variable("AWS_SESSION_TOKEN"));
    Ok(Key {
        access: required("AWS_ACCESS_KEY_ID")?,
        secret: required("AWS_SECRET_ACCESS_KEY")?,
        region: required("AWS_REGION")?,
        token,
        end: None,
    })
}

/// Region from the configuration, or else from the environment.
fn region(configured: Option<&String>) -> Result<String, String> {
    let configured = configured
        .filter(|configured| !configured.is_empty())
        .cloned();
    let region = configured.or_else(|| variable("AWS_REGION"));
    region.ok_or_else(|| "no AWS_REGION set in environment or configuration".to_owned())
}
