//! Reads requests whole, within limits.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use super::error::ApiError;
use super::header_checks;
use super::memory_budget::{MemoryBudget, RequestMemory, Reservation};
use super::reply::Reply;
use super::request::Request;

/// The request with its whole body, which takes its share of the memory as it arrives, or the
/// answer that refuses it.
pub(super) async fn receive(
    parts: Parts,
    body: Incoming,
    limit: usize,
    timeout: Duration,
    memory: &MemoryBudget,
) -> Result<Request, Reply> {
    if let Some(refusal) = header_checks::refusal(&parts) {
        return Err(refusal);
    }
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(too_large(limit));
    }
    let mut share = memory.share();
    let whole = collect(body, limit, &mut share);
    let body = match tokio::time::timeout(timeout, whole).await {
        Ok(body) => body?,
        Err(_) => {
            let message = "request body did not arrive in time";
            let mut reply = ApiError::invalid_parameter(message).reply();
            reply.status = StatusCode::REQUEST_TIMEOUT;
            return Err(reply);
        }
    };
    let mut request = Request::from(http::Request::from_parts(parts, body));
    request.memory = RequestMemory::new(share);
    Ok(request)
}

/// Puts a body together.
async fn collect(
    mut body: Incoming,
    limit: usize,
    share: &mut Reservation,
) -> Result<Bytes, Reply> {
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|failure| {
            let message = format!("request body cannot be read: {failure}");
            ApiError::invalid_parameter(message).reply()
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len().max(whole.len()) + data.len() > limit {
            return Err(too_large(limit));
        }
        let grown = share.grow(data.len()).await;
        grown.map_err(|spent| ApiError::from(spent).reply())?;
        // What came at once, as most bodies do, is not copied.
        if first.is_empty() && whole.is_empty() {
            first = data;
            continue;
        }
        whole.extend_from_slice(&std::mem::take(&mut first));
        whole.extend_from_slice(&data);
    }
    match whole.is_empty() {
        true => Ok(first),
        false => Ok(Bytes::from(whole)),
    }
}

fn too_large(limit: usize) -> Reply {
    let message = format!("request body too large: the limit is {limit} bytes");
    ApiError::invalid_parameter(message).reply()
}
