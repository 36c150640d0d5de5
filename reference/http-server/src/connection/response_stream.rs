//! Response bodies as streams to the client.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};

use super::exchange::Exchange;

/// Body of a response, which keeps its exchange open until its last byte is sent.
pub(super) struct TrackedBody<B> {
    body: B,
    exchange: Arc<Exchange>,
}

impl<B> TrackedBody<B> {
    pub(super) fn new(body: B, exchange: Arc<Exchange>) -> Self {
        Self { body, exchange }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for TrackedBody<B> {
    type Data = TrackedPart;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<TrackedPart>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let part = |frame: Frame<Bytes>| {
            frame.map_data(|bytes| TrackedPart::new(bytes, Arc::clone(&self.exchange)))
        };
        polled.map(|frame| frame.map(|frame| frame.map(part)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Part of a response. HTTP/2 retains it until the client has window for it, so that its lifetime
/// and remaining length show whether the client reads.
pub(super) struct TrackedPart {
    bytes: Bytes,
    exchange: Arc<Exchange>,
}

impl TrackedPart {
    fn new(bytes: Bytes, exchange: Arc<Exchange>) -> Self {
        exchange.begin_part();
        Self { bytes, exchange }
    }
}

impl Drop for TrackedPart {
    fn drop(&mut self) {
        self.exchange.end_part();
    }
}

impl Buf for TrackedPart {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.exchange.note_progress();
        self.bytes.advance(count);
    }

    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        self.exchange.note_progress();
        self.bytes.copy_to_bytes(length)
    }
}
