//! Google Cloud Storage and compatible servers.

use std::sync::Arc;

use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::{ObjectStore, StaticCredentialProvider};
use serde::Deserialize;
use serde_json::Value;

use super::super::{AllowedStorages, StorageError};
use super::{check_name, check_secret_host, credentials, host};
use crate::model::{Gcp, Secret};
use crate::storage_client::{NoRedirects, retries};

/// Default server of Google Cloud Storage.
const SERVER: &str = "https://storage.googleapis.com";

/// Secret of type `gcp_auth`.
#[derive(Deserialize)]
struct Keys {
    /// Key of a service account: JSON, or a string that contains it. Its member `gcs_base_url`
    /// names a server other than Google's, `disable_oauth` disables tokens.
    credentials: Option<Value>,
}

/// Opens the bucket of a definition. Without a secret, requests carry no token.
pub(super) fn open(
    gcp: &Gcp,
    secret: Option<(&str, &Secret)>,
    destinations: &AllowedStorages,
) -> Result<Arc<dyn ObjectStore>, StorageError> {
    check_name(&gcp.bucket, "bucket")?;
    let invalid = || StorageError::config("gcp_auth needs the key of a service account");
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(&gcp.bucket)
        .with_retry(retries())
        .with_http_connector(NoRedirects);
    builder = match secret {
        Some(secret) => {
            let keys: Keys = credentials(secret, "gcp_auth")?;
            let key = match keys.credentials {
                Some(Value::String(text)) => serde_json::from_str(&text).map_err(|_| invalid())?,
                Some(key @ Value::Object(_)) => key,
                _ => return Err(invalid()),
            };
            let url = key.get("gcs_base_url").and_then(Value::as_str);
            let base_url =
                host::check_url(url.unwrap_or(SERVER), &[".googleapis.com"], destinations)?;
            // Google's own tokens come from Google, whatever hosts the secret allows.
            check_secret_host(Some(secret), &base_url, destinations)?;
            if url.is_some() {
                let url = base_url;
                let trimmed = url.as_str().trim_end_matches('/');
                builder = builder.with_base_url(trimmed);
            }
            builder.with_service_account_key(key.to_string())
        }
        None => {
            let anonymous = StaticCredentialProvider::new(GcpCredential {
                bearer: String::new(),
            });
            builder
                .with_credentials(Arc::new(anonymous))
                .with_skip_signature(true)
        }
    };
    match builder.build() {
        Ok(store) => Ok(Arc::new(store)),
        // The error could contain parts of the key.
        Err(_) => Err(invalid()),
    }
}
