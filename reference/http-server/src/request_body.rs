//! Reads request bodies within limits.

use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::StatusCode;
use http::request::Parts;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::task::yield_now;

use super::error::ApiError;
use super::header_checks;
use super::memory_budget::{MemoryBudget, RequestMemory, Reservation};
use super::offload::offload;
use super::reply::Reply;
use super::request::Request;

/// Larger buffers are freed by another thread, in pieces of this many bytes.
const PIECE: usize = 1 << 20;

/// Receiving a body yields to other connections of its thread after this many bytes.
const TURN: usize = 128 << 10;

/// Receives the whole body of a request, reserving memory as it arrives, or returns the response
/// that rejects the request.
pub(super) async fn receive(
    parts: Parts,
    body: Incoming,
    limit: usize,
    timeout: Duration,
    memory: &Arc<MemoryBudget>,
) -> Result<Request, Reply> {
    if let Some(refusal) = header_checks::refusal(&parts) {
        return Err(refusal);
    }
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(too_large(limit));
    }
    let mut collected = pin!(collect(body, limit, memory));
    // Most bodies arrive with their heads, and need no timer.
    let received = match collected.as_mut().now_or_never() {
        Some(received) => Ok(received),
        None => tokio::time::timeout(timeout, collected).await,
    };
    let (body, share) = match received {
        Ok(received) => received?,
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

/// Received part of a body, and the memory reserved for it.
#[derive(Debug)]
struct BufferedBody {
    bytes: Vec<u8>,
    share: Reservation,
}

impl AsRef<[u8]> for BufferedBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for BufferedBody {
    /// Frees a large buffer on another thread, because the system takes long to reclaim many pages,
    /// and in pieces, because the system blocks allocations of other threads meanwhile.
    fn drop(&mut self) {
        if self.bytes.capacity() <= PIECE {
            return;
        }
        let (mut bytes, share) = (mem::take(&mut self.bytes), mem::take(&mut self.share));
        offload(move || {
            while let Some(less) = bytes.capacity().checked_sub(PIECE) {
                bytes.truncate(less);
                bytes.shrink_to(less);
            }
            drop(share);
        });
    }
}

/// Collects a body, reserving memory for it.
async fn collect(
    mut body: Incoming,
    limit: usize,
    memory: &Arc<MemoryBudget>,
) -> Result<(Bytes, Reservation), Reply> {
    let mut first = Bytes::new();
    let mut buffered = BufferedBody {
        bytes: Vec::new(),
        share: memory.share(),
    };
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|failure| {
            let message = format!("request body cannot be read: {failure}");
            ApiError::invalid_parameter(message).reply()
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len().max(buffered.bytes.len()) + data.len() > limit {
            return Err(too_large(limit));
        }
        let grown = buffered.share.grow(data.len()).await;
        grown.map_err(|spent| ApiError::from(spent).reply())?;
        // A body that arrives in one piece, as most do, is not copied.
        if first.is_empty() && buffered.bytes.is_empty() {
            first = data;
            continue;
        }
        let before = buffered.bytes.len();
        buffered.bytes.extend_from_slice(&mem::take(&mut first));
        buffered.bytes.extend_from_slice(&data);
        if before / TURN < buffered.bytes.len() / TURN {
            yield_now().await;
        }
    }
    let share = mem::take(&mut buffered.share);
    match buffered.bytes.is_empty() {
        true => Ok((first, share)),
        false => Ok((Bytes::from_owner(buffered), share)),
    }
}

fn too_large(limit: usize) -> Reply {
    let message = format!("request body too large: the limit is {limit} bytes");
    ApiError::invalid_parameter(message).reply()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::memory_budget::{MemoryBudget, OutOfMemory};
    use super::{BufferedBody, PIECE};

    #[tokio::test]
    async fn a_long_body_that_is_given_up_gives_its_memory_back() {
        let size = 10 * PIECE + 1;
        let budget = Arc::new(MemoryBudget::new(size));
        let mut share = budget.share();
        assert_eq!(share.grow(size).await, Ok(()));
        let mut other = budget.share();
        assert_eq!(other.grow(size).await, Err(OutOfMemory));
        let bytes = vec![b' '; size];
        drop(BufferedBody { bytes, share });
        assert_eq!(other.grow(size).await, Ok(()));
    }
}
