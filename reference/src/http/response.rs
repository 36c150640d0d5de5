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
use super::response_body::{Pieces, Step};

/// An answer that may be sent, and its share of the memory for answers. What is too long, or finds
/// no room in time, is replaced by the error that says so.
pub(super) async fn admit(mut reply: Reply, memory: &Arc<MemoryBudget>) -> (Reply, Reservation) {
    reply.body = match reply.body.measure().await {
        Ok(body) => body,
        Err(error) => return (ApiError::from(error).reply(), Reservation::default()),
    };
    let needed = reply.body.memory();
    // One that is larger than all the memory may still be sent alone.
    let mut share = memory.share();
    match share.grow(needed.min(memory.size())).await {
        Ok(()) => (reply, share),
        Err(spent) => (ApiError::from(spent).reply(), Reservation::default()),
    }
}

/// The body of an answer that is being sent. Its pieces are made when they are asked for; when
/// nobody wants them any more, no more are made.
#[derive(Debug)]
pub(super) struct Sending {
    pieces: Pieces,
    /// The bytes that are still to be sent, if that is known.
    left: Option<u64>,
    /// Whether others have their turn before the next piece.
    gives_way: bool,
    line: AccessLine,
    _share: Reservation,
}

impl Sending {
    /// The answer as it is sent, with its line in the access log and its share of the memory.
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
            Step::Piece(piece) => {
                this.gives_way = this.pieces.is_work();
                let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
                this.line.sent = this.line.sent.saturating_add(length);
                this.left = this.left.map(|left| left.saturating_sub(length));
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Step::Nothing => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Step::End => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_done()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map(SizeHint::with_exact).unwrap_or_default()
    }
}
