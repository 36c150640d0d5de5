//! Custom endpoints of storages.

use reqwest::Url;

use super::super::{AllowedStorages, StorageError};
use crate::allowed_hosts::AllowedHosts;

/// Parses the URL of a storage, whose host must be one of the provider's (it ends in one of
/// `provider_domains`) and use https, or else be one that the operator allows.
///
/// # Errors
/// When it is not a plain http or https URL, or its host is not allowed.
pub(super) fn check_url(
    text: &str,
    provider_domains: &[&str],
    destinations: &AllowedStorages,
) -> Result<Url, StorageError> {
    let refused = |reason: &str| StorageError::Config(format!("URL of the storage: {reason}"));
    let url = Url::parse(text).map_err(|failure| refused(&failure.to_string()))?;
    let is_unadorned = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !is_unadorned {
        return Err(refused(
            "it must be http or https, without user, query and fragment",
        ));
    }
    let Some(host) = url.host_str() else {
        return Err(refused("it has no host"));
    };
    let is_provider = url.scheme() == "https"
        && url.port().is_none()
        && provider_domains.iter().any(|domain| host.ends_with(domain));
    let allowed = AllowedHosts::read(&destinations.hosts);
    if is_provider || allowed.is_ok_and(|hosts| hosts.allows(host, url.port_or_known_default())) {
        return Ok(url);
    }
    Err(refused(&format!(
        "the server may not be sent to host `{host}`; its operator allows hosts with --allow-host"
    )))
}
