//! Checks of request heads that HTTP requires and the library omits.

use http::header::{CONNECTION, EXPECT, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, Version};

use super::error::ApiError;
use super::reply::Reply;

/// Returns the response to a request without exactly one host, with a transfer coding other than
/// `chunked`, or with an unknown expectation. Intermediaries may frame such a request differently,
/// so the connection closes.
pub(super) fn refusal(parts: &Parts) -> Option<Reply> {
    let (status, message) = fault(parts)?;
    let mut reply = ApiError::invalid_parameter(message).reply();
    reply.status = status;
    if parts.version != Version::HTTP_2 {
        let close = HeaderValue::from_static("close");
        reply.headers.insert(CONNECTION, close);
    }
    Some(reply)
}

fn fault(parts: &Parts) -> Option<(StatusCode, &'static str)> {
    let headers = &parts.headers;
    let hosts = headers.get_all(HOST).iter().count();
    if hosts > 1 || (hosts == 0 && parts.version == Version::HTTP_11) {
        return Some((
            StatusCode::BAD_REQUEST,
            "a request must have exactly one Host header",
        ));
    }
    if !each_is(headers, TRANSFER_ENCODING, b"chunked") {
        let message = "the only transfer coding is chunked";
        return Some((StatusCode::NOT_IMPLEMENTED, message));
    }
    if !each_is(headers, EXPECT, b"100-continue") {
        let message = "the only expectation is 100-continue";
        return Some((StatusCode::EXPECTATION_FAILED, message));
    }
    None
}

/// Whether all values of a header equal this one, ignoring case.
fn each_is(headers: &HeaderMap, name: http::HeaderName, value: &[u8]) -> bool {
    let mut values = headers.get_all(name).iter();
    values.all(|found| found.as_bytes().eq_ignore_ascii_case(value))
}
