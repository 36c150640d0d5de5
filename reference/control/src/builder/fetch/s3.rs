//! Documents fetched from S3 object storage.

use futures_util::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{GetResult, ObjectStoreExt};

use super::credentials::{Credentials, ResolvedCredentials};
use super::datasource_config::Config;
use super::{BuildError, http, with_causes};
use crate::allowed_hosts::AllowedHosts;
use crate::storage_client::{NoRedirects, is_plain, retries};

/// Default region.
const DEFAULT_REGION: &str = "us-east-1";

/// Fetches an object of at most `limit` bytes.
///
/// # Errors
/// When the config or credentials are invalid, the host is not allowed, or the object cannot be
/// fetched.
pub(super) async fn fetch(
    config: &Config<'_>,
    resolved: Option<ResolvedCredentials>,
    hosts: &AllowedHosts,
    limit: u64,
) -> Result<Vec<u8>, BuildError> {
    let bucket = check_name("bucket", config.required("bucket")?)?;
    let key = Path::parse(config.required("key")?).map_err(BuildError::config)?;
    let region = match config.text("region")? {
        "" => DEFAULT_REGION,
        region => check_name("region", region)?,
    };
    let endpoint = match config.text("endpoint")? {
        "" => config.text("url")?,
        endpoint => endpoint,
    };
    // One form of URL for all, so that the checked URL is the requested one.
    let endpoint = match endpoint {
        "" => format!("https://s3.{region}.amazonaws.com"),
        endpoint => endpoint.to_owned(),
    };
    let url = http::address(&endpoint, "config.endpoint", hosts)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(BuildError::config(
            "config.endpoint must have no query and no fragment",
        ));
    }
    if let Some(resolved) = &resolved {
        resolved.guard.check_url(&url).map_err(BuildError::config)?;
    }
    let builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_region(region)
        .with_endpoint(url.as_str().trim_end_matches('/'))
        .with_virtual_hosted_style_request(false)
        .with_allow_http(url.scheme() == "http")
        .with_retry(retries())
        .with_http_connector(NoRedirects);
    let builder = match resolved.map(|resolved| resolved.credentials) {
        // The server's own identity must not be used.
        None => builder.with_skip_signature(true),
        Some(Credentials::AwsAuth {
            access_key_id,
            secret_access_key,
            session_token,
        }) => {
            let builder = builder
                .with_access_key_id(access_key_id)
                .with_secret_access_key(secret_access_key);
            match session_token.is_empty() {
                true => builder,
                false => builder.with_token(session_token),
            }
        }
        Some(other) => return Err(other.unsupported("s3")),
    };
    let store = builder
        .build()
        .map_err(|failure| BuildError::config(with_causes(&failure)))?;
    body(store.get(&key).await.map_err(failed)?, limit).await
}

/// Reads an object, counting its bytes: a server may send more than it announces.
async fn body(object: GetResult, limit: u64) -> Result<Vec<u8>, BuildError> {
    let mut parts = object.into_stream();
    let mut bytes = Vec::new();
    while let Some(part) = parts.try_next().await.map_err(failed)? {
        if (bytes.len() + part.len()) as u64 > limit {
            let message = format!("the object has more than {limit} bytes");
            return Err(BuildError::sync(message));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

/// Refuses a name that could change the host or path of the URL built from it.
fn check_name<'n>(what: &str, name: &'n str) -> Result<&'n str, BuildError> {
    match is_plain(name) {
        true => Ok(name),
        false => Err(BuildError::config(format!("invalid config.{what}"))),
    }
}

fn failed(failure: object_store::Error) -> BuildError {
    BuildError::sync(with_causes(&failure))
}
