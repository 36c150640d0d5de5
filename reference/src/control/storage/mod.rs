//! Clients of object storage, for bundles that are written and documents that are fetched.

mod bounded;

use std::time::Duration;

use object_store::client::{HttpClient, HttpConnector};
use object_store::{ClientOptions, Error, RetryConfig};
use reqwest::redirect::Policy;

use self::bounded::Bounded;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long one request may take, with its body.
pub(super) const REQUEST: Duration = Duration::from_secs(120);

/// Makes clients that go where they are sent and nowhere else: a redirect could lead them to a
/// host that is not allowed.
#[derive(Debug)]
pub(super) struct NoRedirects;

impl HttpConnector for NoRedirects {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        crate::crypto::install();
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .timeout(REQUEST)
            .build();
        let client = client.map_err(|failure| Error::Generic {
            store: "HTTP",
            source: Box::new(failure),
        })?;
        Ok(HttpClient::new(Bounded(client)))
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

/// Whether a name cannot lead the URL made of it elsewhere.
pub(super) fn is_plain(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'$');
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(fits)
}
