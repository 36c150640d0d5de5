//! Byte stream of a connection. Detects clients that do not read, and clients that disconnect while
//! their request is processed.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use http::StatusCode;
use smallvec::SmallVec;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;
use tracing::debug;

use super::activity::Activity;
use super::framing::Framing;
use super::socket::Socket;
use super::timer::Timer;

/// Connection preface of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Maximum bytes of an HTTP/2 connection read per turn: some hundreds of the smallest frames.
const TURN: usize = 8 << 10;

/// Maximum bytes read ahead while a request is answered, to detect the end of the stream.
const AHEAD: usize = 16 << 10;

/// Interval at which the system is polled for an end of the stream after unread bytes.
const LOOK_PERIOD: Duration = Duration::from_millis(250);

/// Limits, in time and bytes, of reading a connection after its last response.
const LINGER: Duration = Duration::from_millis(500);
const LINGER_BYTES: usize = 256 << 10;

/// Maximum total bytes of slices that are joined into one buffer, because a vectored write is
/// slower.
const SMALL: usize = 1024;

/// Protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// Monitored byte stream of a connection.
pub(super) struct Stream<S> {
    inner: S,
    activity: Arc<Activity>,
    protocol: Protocol,
    /// Bytes that are read, but not consumed yet.
    ahead: BytesMut,
    /// Whether the client has closed its side.
    ended: bool,
    /// Timer of polls for the end of the stream after unread bytes.
    probe: Timer,
    /// Timeout of a write without progress.
    stall: Timer,
    write_timeout: Duration,
    /// Number of requests whose responses are completely written.
    answered: u64,
    /// Bytes read since the connection last yielded to others.
    read_in_turn: usize,
    /// Status of hyper's own response to a malformed request, if there was one.
    refused: Option<StatusCode>,
    /// HTTP/1: message framing.
    framing: Framing,
    /// HTTP/1: bytes of a head whose target had to be encoded.
    encoded: BytesMut,
}

impl<S: Socket> Stream<S> {
    pub(super) fn new(inner: S, activity: Arc<Activity>, write_timeout: Duration) -> Self {
        Self {
            inner,
            activity,
            protocol: Protocol::Http1,
            ahead: BytesMut::new(),
            ended: false,
            probe: Timer::default(),
            stall: Timer::default(),
            write_timeout,
            answered: 0,
            read_in_turn: 0,
            refused: None,
            framing: Framing::default(),
            encoded: BytesMut::new(),
        }
    }

    /// Reads enough bytes to detect the protocol.
    pub(super) async fn recognise(&mut self) -> io::Result<Protocol> {
        loop {
            let known = self.ahead.len().min(PREFACE.len());
            if self.ahead.get(..known) != PREFACE.get(..known) {
                break;
            }
            if known == PREFACE.len() {
                self.protocol = Protocol::Http2;
                break;
            }
            let mut buffer = [0; 1024];
            let count = self.inner.read(&mut buffer).await?;
            if count == 0 {
                self.ended = true;
                break;
            }
            let read = buffer.get(..count).unwrap_or_default();
            self.ahead.extend_from_slice(read);
        }
        Ok(self.protocol)
    }

    /// Status of the pending response to a malformed request.
    pub(super) fn refusal(&self) -> Option<StatusCode> {
        self.refused
    }

    /// Sends the last response, and closes the server's side.
    pub(super) async fn finish(&mut self, answer: &[u8]) -> io::Result<()> {
        let sent = async {
            self.inner.write_all(answer).await?;
            self.inner.shutdown().await
        };
        timeout(self.write_timeout, sent).await?
    }

    /// Discards further input, within limits, until the client closes its side. Closing a
    /// connection with unread bytes would deprive a slow reader of the last response.
    pub(super) async fn linger(&mut self) {
        let mut buffer = [0; 4096];
        let mut rest = LINGER_BYTES;
        let end = async {
            while !self.ended && rest > 0 {
                match self.inner.read(&mut buffer).await {
                    Ok(0) | Err(_) => break,
                    Ok(count) => rest = rest.saturating_sub(count),
                }
            }
        };
        // A client that continues to send is disconnected.
        let _ended = timeout(LINGER, end).await;
    }

    /// Checks whether the client disconnects while its request is answered: reads ahead, and when
    /// the buffer is full polls the system periodically.
    fn look_ahead(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        while !self.ended && self.ahead.len() < AHEAD {
            let mut buffer = [MaybeUninit::uninit(); 1024];
            let mut buffer = ReadBuf::uninit(&mut buffer);
            match Pin::new(&mut self.inner).poll_read(context, &mut buffer) {
                Poll::Pending => return Ok(()),
                Poll::Ready(read) => read?,
            }
            self.ahead.extend_from_slice(buffer.filled());
            if buffer.filled().is_empty() {
                self.end(context);
            }
        }
        while !self.ended && self.probe.poll(context, LOOK_PERIOD).is_ready() {
            if self.inner.transport().is_read_closed() {
                self.activity.set_client_gone();
                context.waker().wake_by_ref();
                break;
            }
        }
        Ok(())
    }

    /// Reads, and yields to other connections after many bytes: an HTTP/2 connection keeps reading
    /// while there is input, even if no frame belongs to a request.
    fn poll_turn(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read_in_turn >= TURN {
            self.read_in_turn = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        match (self.protocol, &read) {
            (Protocol::Http2, Poll::Ready(_)) => {
                self.read_in_turn += buffer.filled().len() - before
            }
            _ => self.read_in_turn = 0,
        }
        read
    }

    /// Reads bytes of HTTP/2, starting with those read ahead.
    fn poll_frames(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.ahead.is_empty() {
            true => self.poll_turn(context, buffer),
            false => {
                hand_over(&mut self.ahead, buffer, usize::MAX);
                Poll::Ready(Ok(()))
            }
        }
    }

    /// Reads bytes of one HTTP/1 message, and defers those of the next one.
    fn poll_message(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if self.ahead.is_empty() && self.encoded.is_empty() {
            ready!(self.poll_turn(context, buffer))?;
            let read = buffer.filled().get(before..).unwrap_or_default();
            if read.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let piece = self.framing.take(&self.activity, read)?;
            let next = read.get(piece.count..).unwrap_or_default();
            self.ahead.extend_from_slice(next);
            buffer.set_filled(before + piece.count);
            if let Some(encoded) = piece.encoded {
                buffer.set_filled(before);
                self.encoded.extend(encoded);
            }
        } else if self.encoded.is_empty() {
            let length = self.ahead.len().min(buffer.remaining());
            let read = self.ahead.get(..length).unwrap_or_default();
            let piece = self.framing.take(&self.activity, read)?;
            match piece.encoded {
                Some(encoded) => {
                    self.ahead.advance(piece.count);
                    self.encoded.extend(encoded);
                }
                None => hand_over(&mut self.ahead, buffer, piece.count),
            }
        }
        hand_over(&mut self.encoded, buffer, usize::MAX);
        Poll::Ready(Ok(()))
    }

    /// Records that the client has closed its side, and wakes the task of its request.
    fn end(&mut self, context: &Context<'_>) {
        self.ended = true;
        self.activity.set_client_gone();
        context.waker().wake_by_ref();
    }

    /// Whether the bytes are hyper's own response to a malformed request instead of a handler's.
    /// Such bytes are suppressed, because an error object is sent instead.
    fn holds_back(&mut self, bytes: &[u8]) -> bool {
        if self.protocol == Protocol::Http2 || self.activity.started_exchanges() != self.answered {
            return false;
        }
        if self.refused.is_none() {
            let status = bytes.get(9..12).map(StatusCode::from_bytes);
            self.refused = Some(
                status
                    .and_then(Result::ok)
                    .unwrap_or(StatusCode::BAD_REQUEST),
            );
        }
        true
    }

    /// Tracks the result of a write; returns an error when the client does not read for too long.
    fn track_write<T>(
        &mut self,
        context: &mut Context<'_>,
        attempt: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if attempt.is_ready() {
            if self.stall.stop() {
                self.activity.set_blocked(false);
            }
            return attempt;
        }
        self.activity.set_blocked(true);
        ready!(self.stall.poll(context, self.write_timeout));
        // The data buffered by the system for the client is dropped with the connection.
        if let Err(failure) = self.inner.transport().set_zero_linger() {
            debug!(%failure, "cannot discard unread data");
        }
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client does not read",
        )))
    }
}

/// Joins several slices, if they have at most `SMALL` bytes together.
fn together(slices: &[io::IoSlice<'_>]) -> Option<SmallVec<[u8; SMALL]>> {
    let length: usize = slices.iter().map(|slice| slice.len()).sum();
    (length <= SMALL).then(|| {
        let mut bytes = SmallVec::new();
        for slice in slices {
            bytes.extend_from_slice(slice);
        }
        bytes
    })
}

/// Moves at most `most` bytes from one buffer to the other, as far as they fit.
fn hand_over(from: &mut BytesMut, to: &mut ReadBuf<'_>, most: usize) {
    let count = from.len().min(to.remaining()).min(most);
    to.put_slice(from.get(..count).unwrap_or_default());
    from.advance(count);
}

impl<S: Socket> AsyncRead for Stream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        if this.ended && this.ahead.is_empty() && this.encoded.is_empty() {
            return Poll::Ready(Ok(()));
        }
        ready!(match this.protocol {
            Protocol::Http1 => this.poll_message(context, buffer),
            Protocol::Http2 => this.poll_frames(context, buffer),
        })?;
        this.ended |= buffer.filled().len() == before && buffer.remaining() > 0;
        Poll::Ready(Ok(()))
    }
}

impl<S: Socket> AsyncWrite for Stream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.holds_back(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let attempt = Pin::new(&mut this.inner).poll_write(context, bytes);
        this.track_write(context, attempt)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.holds_back(slices.first().map_or(&[], |slice| slice)) {
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        let inner = Pin::new(&mut this.inner);
        let attempt = match together(slices) {
            Some(bytes) => inner.poll_write(context, &bytes),
            None => inner.poll_write_vectored(context, slices),
        };
        this.track_write(context, attempt)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let attempt = Pin::new(&mut this.inner).poll_flush(context);
        ready!(this.track_write(context, attempt))?;
        if this.protocol == Protocol::Http1 {
            if this.activity.is_answering() {
                this.look_ahead(context)?;
            }
            if this.activity.exchanges() == 0 {
                this.answered = this.activity.started_exchanges();
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.refused.is_some() {
            return Poll::Ready(Ok(()));
        }
        let attempt = Pin::new(&mut this.inner).poll_shutdown(context);
        this.track_write(context, attempt)
    }
}
