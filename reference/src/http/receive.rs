//! Reads requests whole, within limits.

use std::time::Duration;

use http::header::{HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{StatusCode, Version};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};

use super::error::ApiError;
use super::reply::Reply;
use super::request::Request;

/// The request with its whole body, or the answer that refuses it.
pub(super) async fn receive(
    parts: Parts,
    body: Incoming,
    limit: usize,
    timeout: Duration,
) -> Result<Request, Reply> {
    if let Some(refusal) = refusal(&parts) {
        return Err(refusal);
    }
    let too_large = || {
        let message = format!("request body too large: the limit is {limit} bytes");
        ApiError::invalid_parameter(message).reply()
    };
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(too_large());
    }
    let whole = Limited::new(body, limit).collect();
    let body = match tokio::time::timeout(timeout, whole).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(failure)) if failure.is::<LengthLimitError>() => return Err(too_large()),
        Ok(Err(failure)) => {
            let message = format!("request body cannot be read: {failure}");
            return Err(ApiError::invalid_parameter(message).reply());
        }
        Err(_) => {
            let text = "request body did not arrive in time\n";
            return Err(Reply::text(StatusCode::REQUEST_TIMEOUT, text));
        }
    };
    Ok(Request::from(http::Request::from_parts(parts, body)))
}

/// The answer to what HTTP/1.1 has a server refuse and the library lets pass: a request that does
/// not name one host, and a transfer coding that would be mistaken for the body.
fn refusal(parts: &Parts) -> Option<Reply> {
    let hosts = parts.headers.get_all(HOST).iter().count();
    if hosts > 1 || (hosts == 0 && parts.version == Version::HTTP_11) {
        let text = "a request names one host\n";
        return Some(Reply::text(StatusCode::BAD_REQUEST, text));
    }
    let mut codings = parts.headers.get_all(TRANSFER_ENCODING).iter();
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        let text = "the only transfer coding is chunked\n";
        return Some(Reply::text(StatusCode::NOT_IMPLEMENTED, text));
    }
    None
}
