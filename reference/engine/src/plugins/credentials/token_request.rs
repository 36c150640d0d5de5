//! Token requests.

use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, RequestBuilder, Url, redirect};

use crate::plugins::connector::cause;
use crate::plugins::connector::is_loopback;

/// Maximum bytes of a response.
const MAX_ANSWER: usize = 1 << 20;

/// Characters that forms do not percent-encode.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Encodes a form, or the query of a URL.
pub(super) fn form<'p>(pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    let encoded = |text: &str| {
        let text = utf8_percent_encode(text, PLAIN).to_string();
        text.replace("%20", "+")
    };
    let pairs = pairs.into_iter();
    let pairs = pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Creates a request to a server that is not a configured service, so that no service's settings
/// apply. Redirects are not followed.
///
/// # Errors
/// When the URL is invalid.
pub(super) fn request_builder(method: Method, url: &str) -> Result<RequestBuilder, String> {
    http_server::tls_provider::install();
    let url = Url::parse(url)
        .map_err(|error| format!("invalid URL of the credentials server: {error}"))?;
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false);
    if url.host_str().is_some_and(is_loopback) {
        builder = builder.no_proxy();
    }
    let client = builder.build().map_err(|error| cause(&error))?;
    Ok(client.request(method, url))
}

/// Sends a request and returns the body of a successful response that arrives within a timeout.
/// Messages name the server by `server`, and contain nothing of the request and the response.
///
/// # Errors
/// When there is no such response, or it is too long.
pub(super) async fn send(
    server: &str,
    request: RequestBuilder,
    timeout: Duration,
) -> Result<Vec<u8>, String> {
    let failed = |error: reqwest::Error| format!("{server}: {}", cause(&error));
    let mut response = request.timeout(timeout).send().await.map_err(failed)?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("{server} replied with {status}"));
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(failed)? {
        if body.len().saturating_add(piece.len()) > MAX_ANSWER {
            return Err(format!("the answer of {server} is too long"));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}
