//! Azure Blob Storage and compatible servers.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::azure::MicrosoftAzureBuilder;
use reqwest::Url;
use serde::Deserialize;

use super::super::{AllowedStorages, StorageError};
use super::{check_name, check_secret_host, credentials, host};
use crate::model::{Azure, Secret};
use crate::storage_client::{NoRedirects, retries};

/// Domain suffixes of storage account hosts.
const HOSTS: &[&str] = &[
    ".blob.core.windows.net",
    ".blob.core.chinacloudapi.cn",
    ".blob.core.usgovcloudapi.net",
];

/// Secret of type `azure_auth`.
#[derive(Deserialize)]
struct Keys {
    account_name: String,
    account_key: String,
}

/// Opens the container of a definition. Without a secret, requests are not signed.
pub(super) fn open(
    azure: &Azure,
    secret: Option<(&str, &Secret)>,
    destinations: &AllowedStorages,
) -> Result<Arc<dyn ObjectStore>, StorageError> {
    check_name(&azure.container, "container")?;
    let url = host::check_url(&azure.account_url, HOSTS, destinations)?;
    check_secret_host(secret, &url, destinations)?;
    let mut builder = MicrosoftAzureBuilder::new()
        .with_container_name(&azure.container)
        .with_allow_http(url.scheme() == "http")
        .with_endpoint(url.as_str().trim_end_matches('/').to_owned())
        .with_retry(retries())
        .with_http_connector(NoRedirects);
    builder = match secret {
        Some(secret) => {
            let keys: Keys = credentials(secret, "azure_auth")?;
            check_name(&keys.account_name, "storage account")?;
            builder
                .with_account(keys.account_name)
                .with_access_key(keys.account_key)
        }
        None => builder
            .with_account(account(&url))
            .with_skip_signature(true),
    };
    match builder.build() {
        Ok(store) => Ok(Arc::new(store)),
        // The error could contain the key that cannot be decoded.
        Err(_) => Err(StorageError::config("the account key is not base64")),
    }
}

/// Returns the account that a URL names: the last path segment, or the first label of the host.
fn account(url: &Url) -> String {
    let mut segments = url.path_segments().into_iter().flatten();
    let last = segments.rfind(|segment| !segment.is_empty());
    let label = url.host_str().and_then(|host| host.split('.').next());
    last.or(label).unwrap_or_default().to_owned()
}
