//! Compressed requests and answers.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::{HeaderValue, Method};

use super::config::Config;
use crate::http::{ApiError, Reply, Request};

/// Replaces a compressed body by what it holds. Only POST knows compressed bodies.
///
/// # Errors
/// `invalid_parameter` when the body is not gzip, ends early, or holds more than the limit.
pub(super) fn decode(request: &mut Request, limit: usize) -> Result<(), ApiError> {
    let encoding = request.headers.get(CONTENT_ENCODING);
    let encoding = encoding
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if request.method != Method::POST || !encoding.contains("gzip") {
        return Ok(());
    }
    let mut body = Vec::new();
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let read = MultiGzDecoder::new(&*request.body)
        .take(bound)
        .read_to_end(&mut body);
    if let Err(failure) = read {
        let message = format!("could not decompress the request body: {failure}");
        return Err(ApiError::invalid_parameter(message));
    }
    if body.len() > limit {
        let message = format!("request body too large: it holds more than {limit} bytes");
        return Err(ApiError::invalid_parameter(message));
    }
    request.body = Bytes::from(body);
    Ok(())
}

/// Compresses an answer of the endpoints that compress, when the client takes gzip and the
/// answer is longer than the configuration's threshold.
pub(super) fn encode(request: &Request, mut reply: Reply, config: &Config) -> Reply {
    if !compresses(request) {
        return reply;
    }
    let vary = HeaderValue::from_static("Accept-Encoding");
    reply.headers.insert(VARY, vary);
    if reply.body.len() <= config.gzip_threshold || !accepts(request) {
        return reply;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(config.gzip_level));
    let written = encoder.write_all(&reply.body);
    if let (Ok(()), Ok(body)) = (written, encoder.finish()) {
        let encoding = HeaderValue::from_static("gzip");
        reply.headers.insert(CONTENT_ENCODING, encoding);
        reply.body = Bytes::from(body);
    }
    reply
}

fn compresses(request: &Request) -> bool {
    let below = |start: &str| {
        let rest = request.path.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    match request.method {
        Method::GET => below("/v1/data"),
        Method::POST => below("/v1/data") || below("/v0/data") || below("/v1/compile"),
        _ => false,
    }
}

/// Whether the client names gzip and does not give it the weight zero.
fn accepts(request: &Request) -> bool {
    let values = request.headers.get_all(ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        let refused = weight.trim().parse() == Ok(0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}
