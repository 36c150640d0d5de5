//! Amazon S3 and compatible servers.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use reqwest::Url;
use serde::Deserialize;

use super::super::{AllowedStorages, StorageError};
use super::{check_name, check_secret_host, credentials, host};
use crate::model::{Aws, Secret};
use crate::storage_client::{NoRedirects, retries};

/// Secret of type `aws_auth`.
#[derive(Deserialize)]
struct Keys {
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
}

/// Opens the bucket of a definition. Without a secret, requests are not signed.
pub(super) fn open(
    aws: &Aws,
    secret: Option<(&str, &Secret)>,
    destinations: &AllowedStorages,
) -> Result<Arc<dyn ObjectStore>, StorageError> {
    check_name(&aws.bucket, "bucket")?;
    check_name(&aws.region, "region")?;
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&aws.bucket)
        .with_region(&aws.region)
        .with_retry(retries())
        .with_http_connector(NoRedirects);
    builder = match aws.url.as_deref().filter(|url| !url.is_empty()) {
        Some(url) => {
            let url = host::check_url(url, &[".amazonaws.com"], destinations)?;
            check_secret_host(secret, &url, destinations)?;
            builder
                .with_allow_http(url.scheme() == "http")
                .with_endpoint(url.as_str().trim_end_matches('/'))
        }
        // Amazon's wildcard certificate does not cover a bucket with a dot in its name.
        None => {
            let is_in_host = !aws.bucket.contains('.');
            let bucket = match is_in_host {
                true => format!("{}.", aws.bucket),
                false => String::new(),
            };
            let url = format!("https://{bucket}s3.{}.amazonaws.com", aws.region);
            let url = Url::parse(&url);
            let url = url.map_err(|failure| StorageError::Config(failure.to_string()))?;
            check_secret_host(secret, &url, destinations)?;
            builder.with_virtual_hosted_style_request(is_in_host)
        }
    };
    builder = match secret {
        Some(secret) => {
            let keys: Keys = credentials(secret, "aws_auth")?;
            let signed = builder
                .with_access_key_id(keys.access_key_id)
                .with_secret_access_key(keys.secret_access_key);
            match keys.session_token.filter(|token| !token.is_empty()) {
                Some(token) => signed.with_token(token),
                None => signed,
            }
        }
        None => builder.with_skip_signature(true),
    };
    match builder.build() {
        Ok(store) => Ok(Arc::new(store)),
        Err(failure) => Err(StorageError::Config(failure.to_string())),
    }
}
