//! Gzip compression of requests and responses.

use std::io::Read;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::{HeaderValue, Method};

use super::config::Config;
use super::errors;
use http_server::{ApiError, Reply, Request};

/// Bytes that are decompressed between two checks whether the request was cancelled.
const STEP: usize = 64 << 10;

/// Whether a request has a compressed body. Only POST supports compressed bodies.
pub(super) fn is_compressed(request: &Request) -> bool {
    let encoding = request.header(CONTENT_ENCODING);
    request.method == Method::POST && encoding.is_some_and(|encoding| encoding.contains("gzip"))
}

/// Decompresses a compressed body; the result counts towards the memory budget of bodies.
///
/// # Errors
/// `invalid_parameter` when the body is not gzip, is truncated, or exceeds the limit; `unavailable`
/// when the memory budget is exhausted.
pub(super) fn decode(request: &mut Request, limit: usize) -> Result<(), ApiError> {
    if !is_compressed(request) {
        return Ok(());
    }
    let mut body = Vec::new();
    let mut step = vec![0; STEP];
    let mut decoder = MultiGzDecoder::new(&*request.body);
    loop {
        let read = decoder.read(&mut step).map_err(|failure| {
            let message = format!("could not decompress the request body: {failure}");
            ApiError::invalid_parameter(message)
        })?;
        if read == 0 {
            break;
        }
        if body.len() + read > limit {
            let message = format!("request body too large: it holds more than {limit} bytes");
            return Err(ApiError::invalid_parameter(message));
        }
        // A request also counts as cancelled if the client has only half-closed its connection.
        // With a small body, it still gets a response.
        if body.len() >= STEP && request.cancelled.load(Ordering::Relaxed) {
            return Err(errors::cancelled());
        }
        request.memory.grow(read)?;
        body.extend_from_slice(step.get(..read).unwrap_or_default());
    }
    request.body = Bytes::from(body);
    Ok(())
}

/// Compresses a response when the client accepts gzip and the response is longer than the
/// configured threshold.
pub(super) fn encode(request: &Request, mut reply: Reply, config: &Config) -> Reply {
    let vary = HeaderValue::from_static("Accept-Encoding");
    reply.headers.insert(VARY, vary);
    if !reply.body.is_longer_than(config.gzip_threshold) || !accepts(request) {
        return reply;
    }
    let encoding = HeaderValue::from_static("gzip");
    reply.headers.insert(CONTENT_ENCODING, encoding);
    reply.body = reply.body.compressed(config.gzip_level);
    reply
}

/// Whether the client accepts gzip with a weight above zero.
fn accepts(request: &Request) -> bool {
    let values = request.headers.get_all(ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let mut parts = coding.split(';');
        let name = parts.next().unwrap_or_default();
        let mut weights = parts.filter_map(|parameter| parameter.trim().strip_prefix("q="));
        let refused = weights.any(|weight| weight.trim().parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}
