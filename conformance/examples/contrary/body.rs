//! Parameters and bodies of requests.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;
use http::{header, request::Parts};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::LONGEST_BODY;
use crate::answer::Failure;

/// Returns the names and values of the query parameters, decoded.
pub(crate) fn parameters(head: &Parts) -> impl Iterator<Item = (String, String)> {
    let pairs = head.uri.query().unwrap_or_default().split('&');
    pairs.filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((decoded(name)?, decoded(value)?))
    })
}

fn decoded(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    let text = percent_decode_str(&text).decode_utf8().ok()?;
    Some(text.into_owned())
}

/// Decodes the content encoding of a body.
///
/// # Errors
///
/// The encoding is unknown or does not match the body, or the body is too long.
pub(crate) fn unpacked(head: &Parts, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let coding = head.headers.get(header::CONTENT_ENCODING);
    let Some(coding) = coding.map(|value| value.to_str().unwrap_or("?")) else {
        return Ok(body.to_vec());
    };
    if !coding.eq_ignore_ascii_case("gzip") {
        return Err(Failure::invalid("only gzip can be unpacked"));
    }
    let mut bytes = Vec::new();
    let mut unpacker = MultiGzDecoder::new(body).take(LONGEST_BODY as u64);
    match unpacker.read_to_end(&mut bytes) {
        Ok(length) if length < LONGEST_BODY => Ok(bytes),
        _ => Err(Failure::invalid("the body cannot be unpacked")),
    }
}

/// Returns the one of these media types that the request's Content-Type has.
///
/// # Errors
///
/// The body has none of them.
pub(crate) fn media_type<'t>(head: &Parts, listed: &[&'t str]) -> Result<&'t str, Failure> {
    let declared = head.headers.get(header::CONTENT_TYPE);
    let declared = declared
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let declared = declared.split(';').next().unwrap_or_default().trim();
    let found = listed
        .iter()
        .find(|media| media.eq_ignore_ascii_case(declared));
    found.copied().ok_or_else(|| {
        let listed = listed.join(" or ");
        Failure::invalid(format!("the body is {declared:?}, but should be {listed}"))
    })
}

/// Parses a body as JSON or YAML, by its Content-Type.
///
/// # Errors
///
/// The body has another type, or is malformed.
pub(crate) fn input(head: &Parts, body: &[u8]) -> Result<Value, Failure> {
    match media_type(head, &["application/json", "application/yaml"])? {
        "application/yaml" => serde_yaml::from_slice(body).ok(),
        _ => serde_json::from_slice(body).ok(),
    }
    .ok_or_else(|| Failure::invalid("the body cannot be read"))
}
