//! Documents that are fetched from object storage in the manner of S3.

use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{ObjectStoreExt, RetryConfig};
use reqwest::Url;

use super::credentials::Credentials;
use super::datasource::Config;
use super::{Trouble, reach};
use crate::control::hosts::Hosts;

/// The region of requests that name none.
const REGION: &str = "us-east-1";

/// How often a request is sent again; a failed build is tried again later anyway.
const RETRIES: usize = 2;

/// Fetches an object of at most `limit` bytes.
///
/// # Errors
/// When the config or credentials cannot be used, the host is not allowed, or the object cannot
/// be had.
pub(super) async fn fetch(
    config: &Config<'_>,
    credentials: Option<Credentials>,
    hosts: &Hosts,
    limit: u64,
) -> Result<Vec<u8>, Trouble> {
    let bucket = config.required("bucket")?;
    let key =
        Path::parse(config.required("key")?).map_err(|why| Trouble::config(why.to_string()))?;
    let region = match config.text("region")? {
        "" => REGION,
        region => region,
    };
    let endpoint = match config.text("endpoint")? {
        "" => config.text("url")?,
        endpoint => endpoint,
    };
    // One form of address for all, so that what is checked is what is asked.
    let endpoint = match endpoint {
        "" => format!("https://s3.{region}.amazonaws.com"),
        endpoint => endpoint.to_owned(),
    };
    let url = Url::parse(&endpoint).map_err(|why| Trouble::config(format!("endpoint: {why}")))?;
    reach(
        hosts,
        url.host_str().unwrap_or_default(),
        url.port_or_known_default(),
    )?;
    let builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_region(region)
        .with_endpoint(endpoint.trim_end_matches('/'))
        .with_virtual_hosted_style_request(false)
        .with_allow_http(url.scheme() == "http")
        .with_retry(RetryConfig {
            max_retries: RETRIES,
            ..RetryConfig::default()
        });
    let builder = match credentials {
        // The server's own identity is nobody else's to use.
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
        Some(other) => return Err(other.unfit("s3")),
    };
    let store = builder
        .build()
        .map_err(|failure| Trouble::config(super::chain(&failure)))?;
    let failed = |failure: object_store::Error| Trouble::Sync(super::chain(&failure));
    let object = store.get(&key).await.map_err(failed)?;
    if object.meta.size > limit {
        return Err(Trouble::Sync(format!(
            "the object has more than {limit} bytes"
        )));
    }
    let bytes = object.bytes().await.map_err(failed)?;
    Ok(bytes.to_vec())
}
