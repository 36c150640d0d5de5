//! How storages are spoken to over HTTP.

use std::time::Duration;

use object_store::client::{HttpClient, HttpConnector};
use object_store::{ClientOptions, Error, RetryConfig};
use reqwest::redirect::Policy;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long one request may take, with its body.
const REQUEST: Duration = Duration::from_secs(120);

/// Makes clients that go where they are sent and nowhere else: a redirect could lead them to a
/// host that is not allowed.
#[derive(Debug)]
pub(super) struct Straight;

impl HttpConnector for Straight {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        // The first one that is installed stays; all of this program are the same.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .timeout(REQUEST)
            .build();
        let client = client.map_err(|failure| Error::Generic {
            store: "HTTP",
            source: Box::new(failure),
        })?;
        Ok(HttpClient::new(client))
    }
}

/// A few retries; the build is tried again later anyway.
pub(super) fn retries() -> RetryConfig {
    RetryConfig {
        max_retries: 2,
        retry_timeout: Duration::from_secs(30),
        ..RetryConfig::default()
    }
}

/// Why a storage did not take a bundle, on one line.
pub(super) fn explain(failure: &Error) -> String {
    let kind = match failure {
        Error::NotFound { .. } => "the storage has no such bucket or container",
        Error::PermissionDenied { .. } => "the storage refuses the credentials",
        Error::Unauthenticated { .. } => "the storage does not know the credentials",
        _ => "the storage cannot be written to",
    };
    // The innermost reason says most; the others repeat it with an address around it.
    let mut reason: &dyn std::error::Error = failure;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    let reason = reason.to_string();
    let words: Vec<&str> = reason.split_whitespace().collect();
    format!("{kind}: {}", words.join(" "))
}
