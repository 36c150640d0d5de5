//! Responses with their share of the memory budget.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use super::access_log::AccessLine;
use super::error::ApiError;
use super::memory_budget::{MemoryBudget, Reservation};
use super::reply::Reply;
use super::response_body::{BodyChunks, NextChunk};

/// Reserves memory of the response budget for a response. A response that is too long, or gets no
/// memory in time, is replaced by an error.
pub(super) async fn admit(mut reply: Reply, memory: &Arc<MemoryBudget>) -> (Reply, Reservation) {
    reply.body = match reply.body.measure().await {
        Ok(body) => body,
        Err(error) => return (ApiError::from(error).reply(), Reservation::default()),
    };
    let needed = reply.body.memory();
    // A response that exceeds the whole budget may still be sent alone.
    let mut share = memory.share();
    match share.grow(needed.min(memory.size())).await {
        Ok(()) => (reply, share),
        Err(spent) => (ApiError::from(spent).reply(), Reservation::default()),
    }
}

/// Body of a response that is being sent. Its pieces are produced on demand; after a disconnect no
/// more are produced.
#[derive(Debug)]
pub(super) struct Sending {
    pieces: BodyChunks,
    /// Remaining bytes, if known.
    left: Option<u64>,
    /// Whether to yield to other connections before the next piece.
    gives_way: bool,
    line: AccessLine,
    _share: Reservation,
}

impl Sending {
    /// Response with its line of the access log and its memory reservation.
    pub(super) fn response(
        reply: Reply,
        share: Reservation,
        line: AccessLine,
    ) -> hyper::Response<Self> {
        let left = reply.body.length();
        let pieces = reply.body.into_pieces();
        let mut response = hyper::Response::new(Self {
            pieces,
            left,
            gives_way: false,
            line,
            _share: share,
        });
        *response.status_mut() = reply.status;
        *response.headers_mut() = reply.headers;
        response
    }
}

impl hyper::body::Body for Sending {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if std::mem::take(&mut this.gives_way) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        match this.pieces.step() {
            NextChunk::Piece(piece) => {
                this.gives_way = this.pieces.is_work();
                let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
                this.line.sent = this.line.sent.saturating_add(length);
                this.left = this.left.map(|left| left.saturating_sub(length));
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            NextChunk::Nothing => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            NextChunk::End => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_done()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map(SizeHint::with_exact).unwrap_or_default()
    }
}
