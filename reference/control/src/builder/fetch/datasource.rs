//! Datasources: documents fetched with each build.

use rego::value::from_json;
use serde_json::Map;

use super::credentials::ResolvedCredentials;
use super::datasource_config::Config;
#[cfg(feature = "clouds")]
use super::s3;
use super::{BuildError, http};
use crate::allowed_hosts::AllowedHosts;
use crate::model::{Datasource, stored_path};

/// Returns the path of the file for the document of a datasource.
///
/// # Errors
/// When the path leaves the source.
pub(super) fn path(definition: &Datasource) -> Result<String, BuildError> {
    let path = definition.path.clone().unwrap_or_default();
    let name = definition.name.as_deref().unwrap_or_default();
    stored_path(&[path]).map_err(|invalid| within(name, BuildError::config(invalid)))
}

/// Fetches a document of at most `limit` bytes.
///
/// # Errors
/// When the config is invalid, the host is not allowed, or the response is not a JSON document.
pub(super) async fn fetch(
    definition: &Datasource,
    resolved: Option<ResolvedCredentials>,
    hosts: &AllowedHosts,
    limit: u64,
) -> Result<Vec<u8>, BuildError> {
    let empty = Map::new();
    let config = Config::new(definition.config.as_ref().unwrap_or(&empty));
    let bytes = match definition.kind.as_deref() {
        Some("http") => http::fetch(&config, resolved, hosts, limit).await?,
        #[cfg(feature = "clouds")]
        Some("s3") => s3::fetch(&config, resolved, hosts, limit).await?,
        #[cfg(not(feature = "clouds"))]
        Some("s3") => {
            let message = "this build does not support type `s3` (feature `clouds`)";
            return Err(BuildError::config(message));
        }
        other => {
            let other = other.unwrap_or_default();
            let message = format!("type `{other}` is neither http nor s3");
            return Err(BuildError::config(message));
        }
    };
    from_json(&bytes).map_err(BuildError::sync)?;
    Ok(bytes)
}

/// Adds the name of the datasource to an error.
pub(super) fn within(name: &str, failure: BuildError) -> BuildError {
    failure.within(&format!("datasource `{name}`"))
}
