//! Azure Blob Storage and compatible servers.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::azure::MicrosoftAzureBuilder;
use reqwest::Url;
use serde::Deserialize;

use super::{AllowedDestinations, DestinationError, credentials, guarded, host, plain};
use crate::control::model::{Azure, Secret};
use crate::control::storage::{NoRedirects, retries};

/// How the hosts of storage accounts end.
const HOSTS: &[&str] = &[
    ".blob.core.windows.net",
    ".blob.core.chinacloudapi.cn",
    ".blob.core.usgovcloudapi.net",
];

/// A secret of type `azure_auth`.
#[derive(Deserialize)]
struct Keys {
    account_name: String,
    account_key: String,
}

/// The container of a definition. Without a secret, requests are not signed.
pub(super) fn open(
    azure: &Azure,
    secret: Option<(&str, &Secret)>,
    destinations: &AllowedDestinations,
) -> Result<Arc<dyn ObjectStore>, DestinationError> {
    plain(&azure.container, "container")?;
    let url = host::check_url(&azure.account_url, HOSTS, destinations)?;
    guarded(secret, &url, destinations)?;
    let mut builder = MicrosoftAzureBuilder::new()
        .with_container_name(&azure.container)
        .with_allow_http(url.scheme() == "http")
        .with_endpoint(url.as_str().trim_end_matches('/').to_owned())
        .with_retry(retries())
        .with_http_connector(NoRedirects);
    builder = match secret {
        Some(secret) => {
            let keys: Keys = credentials(secret, "azure_auth")?;
            plain(&keys.account_name, "storage account")?;
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
        // It may show the key that it cannot decode.
        Err(_) => Err(DestinationError::config("the account key is not base64")),
    }
}

/// The account that a URL names: the last segment of its path, or the first label of its host.
fn account(url: &Url) -> String {
    let mut segments = url.path_segments().into_iter().flatten();
    let last = segments.rfind(|segment| !segment.is_empty());
    let label = url.host_str().and_then(|host| host.split('.').next());
    last.or(label).unwrap_or_default().to_owned()
}
