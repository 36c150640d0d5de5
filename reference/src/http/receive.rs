//! Reads requests whole, within limits.

use std::time::Duration;

use http::StatusCode;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};

use super::error::ApiError;
use super::head;
use super::reply::Reply;
use super::request::Request;

/// The request with its whole body, or the answer that refuses it.
pub(super) async fn receive(
    parts: Parts,
    body: Incoming,
    limit: usize,
    timeout: Duration,
) -> Result<Request, Reply> {
    if let Some(refusal) = head::refusal(&parts) {
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
            let message = "request body did not arrive in time";
            let mut reply = ApiError::invalid_parameter(message).reply();
            reply.status = StatusCode::REQUEST_TIMEOUT;
            return Err(reply);
        }
    };
    Ok(Request::from(http::Request::from_parts(parts, body)))
}
