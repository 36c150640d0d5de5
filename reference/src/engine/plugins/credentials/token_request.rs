//! Token requests.

use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, RequestBuilder, Url, redirect};

use crate::engine::plugins::connector::is_loopback;
use crate::engine::plugins::service::cause;

/// The most bytes of an answer.
const MAX_ANSWER: usize = 1 << 20;

/// What forms show as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A form, or the query of an address.
pub(super) fn form<'p>(pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    let encoded = |text: &str| {
        let text = utf8_percent_encode(text, PLAIN).to_string();
        text.replace("%20", "+")
    };
    let pairs = pairs.into_iter();
    let pairs = pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A question to somebody who is no service of the configuration, so that no setting of a service
/// is about it. No redirection is followed.
///
/// # Errors
/// When the address is none.
pub(super) fn question(method: Method, url: &str) -> Result<RequestBuilder, String> {
    crate::crypto::install();
    let url = Url::parse(url).map_err(|why| format!("an address to ask cannot be used: {why}"))?;
    let mut builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false);
    if url.host_str().is_some_and(is_loopback) {
        builder = builder.no_proxy();
    }
    let client = builder.build().map_err(|why| cause(&why))?;
    Ok(client.request(method, url))
}

/// The body of the answer to a request, if it comes within a time and says that all went well.
/// Messages call whoever is asked by a name, and show nothing of the question and the answer.
///
/// # Errors
/// When there is no such answer, or it is too long.
pub(super) async fn ask(
    whom: &str,
    request: RequestBuilder,
    within: Duration,
) -> Result<Vec<u8>, String> {
    let failed = |why: reqwest::Error| format!("{whom}: {}", cause(&why));
    let mut response = request.timeout(within).send().await.map_err(failed)?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("{whom} replied with {status}"));
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(failed)? {
        if body.len().saturating_add(piece.len()) > MAX_ANSWER {
            return Err(format!("the answer of {whom} is too long"));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}
