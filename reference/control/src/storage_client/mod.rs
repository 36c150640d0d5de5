//! Clients of object storages, which write bundles and fetch documents.

mod bounded;

use std::time::Duration;

use object_store::client::{HttpClient, HttpConnector};
use object_store::{ClientOptions, Error, RetryConfig};
use reqwest::redirect::Policy;

use self::bounded::Bounded;

/// Timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for one request, including its body.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

/// Connector of clients that do not follow redirects: a redirect could lead to a host that is not
/// allowed.
#[derive(Debug)]
pub(super) struct NoRedirects;

impl HttpConnector for NoRedirects {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        http_server::tls_provider::install();
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            .build();
        let client = client.map_err(|failure| Error::Generic {
            store: "HTTP",
            source: Box::new(failure),
        })?;
        Ok(HttpClient::new(Bounded(client)))
    }
}

/// Returns the retry policy: two retries, because the worker repeats failed builds anyway.
pub(super) fn retries() -> RetryConfig {
    RetryConfig {
        max_retries: 2,
        retry_timeout: Duration::from_secs(30),
        ..RetryConfig::default()
    }
}

/// Returns true if a name is safe in a URL: it cannot change the host or the path.
pub(super) fn is_plain(name: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'$');
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_allowed)
}
