//! HTTP/2 frames for clients that send malformed or unusual ones, which no library would.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::servers::{HANG_LIMIT, Wire, within};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// HTTP/2 frame types.
pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

/// HTTP/2 frame flags.
pub(super) const END_STREAM: u8 = 1;
pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

/// Identifiers of HTTP/2 settings.
pub(super) const INITIAL_WINDOW: u16 = 4;

/// HTTP/2 frame as received.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

/// HTTP/2 connection of a client.
#[derive(Debug)]
pub(super) struct Frames {
    stream: TcpStream,
}

/// Encodes a frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let mut bytes = length.to_be_bytes().split_off_first();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Removes the first of four bytes: the length of a frame has three bytes.
trait SplitOffFirst {
    fn split_off_first(self) -> Vec<u8>;
}

impl SplitOffFirst for [u8; 4] {
    fn split_off_first(self) -> Vec<u8> {
        self.into_iter().skip(1).collect()
    }
}

/// Encodes a header block without compression.
pub(super) fn block(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in headers {
        bytes.push(0);
        text(name, &mut bytes);
        text(value, &mut bytes);
    }
    bytes
}

/// Encodes a string literal: its length as an integer with a 7-bit prefix, and its bytes.
fn text(text: &str, bytes: &mut Vec<u8>) {
    let mut length = text.len();
    match u8::try_from(length) {
        Ok(short) if short < 127 => bytes.push(short),
        _ => {
            bytes.push(127);
            length -= 127;
            while length >= 128 {
                bytes.push(u8::try_from(length % 128).unwrap_or(0) | 128);
                length /= 128;
            }
            bytes.push(u8::try_from(length).unwrap_or(0));
        }
    }
    bytes.extend(text.as_bytes());
}

/// Encodes the frame of a request without a body.
pub(super) fn get(stream: u32, path: &str) -> Vec<u8> {
    let headers = block(&[
        (":method", "GET"),
        (":scheme", "http"),
        (":authority", "server"),
        (":path", path),
    ]);
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &headers)
}

/// Encodes the frames of a request with a body.
pub(super) fn post(stream: u32, path: &str, body: &str) -> Vec<u8> {
    let headers = block(&[
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", "server"),
        (":path", path),
    ]);
    let mut bytes = frame(HEADERS, END_HEADERS, stream, &headers);
    bytes.extend(frame(DATA, END_STREAM, stream, body.as_bytes()));
    bytes
}

impl Frames {
    /// Connects and sends these settings.
    ///
    /// # Errors
    /// When the server does not accept the connection.
    pub(super) async fn connect(
        to: SocketAddr,
        from: [u8; 4],
        settings: &[(u16, u32)],
    ) -> io::Result<Self> {
        let stream = Wire::connect(to, from).await?.into_stream();
        let mut frames = Self { stream };
        let mut payload = Vec::new();
        for (name, value) in settings {
            payload.extend(name.to_be_bytes());
            payload.extend(value.to_be_bytes());
        }
        let mut bytes = PREFACE.to_vec();
        bytes.extend(frame(SETTINGS, 0, 0, &payload));
        frames.send(&bytes).await?;
        Ok(frames)
    }

    /// Sends encoded frames or other bytes.
    ///
    /// # Errors
    /// When the server has closed the connection.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        within(HANG_LIMIT, self.stream.write_all(bytes)).await
    }

    /// Reads the next frame.
    ///
    /// # Errors
    /// When no frame arrives or the connection is closed.
    async fn next(&mut self) -> io::Result<Frame> {
        self.next_within(HANG_LIMIT).await
    }

    /// Reads the next frame, or fails after a time.
    ///
    /// # Errors
    /// When no frame arrives in time or the connection is closed.
    pub(super) async fn next_within(&mut self, time: Duration) -> io::Result<Frame> {
        within(time, self.read()).await
    }

    async fn read(&mut self) -> io::Result<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await?;
        let [a, b, c, kind, _flags, stream @ ..] = head;
        let length = usize::try_from(u32::from_be_bytes([0, a, b, c])).unwrap_or(usize::MAX);
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).await?;
        Ok(Frame {
            kind,
            stream: u32::from_be_bytes(stream) & 0x7fff_ffff,
            payload,
        })
    }

    /// Reads until the server answers or resets this stream, or closes the connection.
    pub(super) async fn verdict(&mut self, stream: u32) -> Verdict {
        loop {
            match self.next().await {
                Ok(frame) if frame.kind == GOAWAY => return Verdict::Closed,
                Ok(frame) if frame.kind == RST_STREAM && frame.stream == stream => {
                    return Verdict::Reset;
                }
                Ok(frame) if frame.kind == HEADERS && frame.stream == stream => {
                    return Verdict::Answered(status(&frame.payload));
                }
                Ok(_) => {}
                Err(failure) if failure.kind() == io::ErrorKind::TimedOut => {
                    return Verdict::Silent;
                }
                Err(_) => return Verdict::Closed,
            }
        }
    }
}

/// Reaction of a server to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The server closed the connection.
    Closed,
    /// The server reset the stream.
    Reset,
    /// The server answered with this status, or 0 for a status outside the static table.
    Answered(u16),
    /// No frame arrived in time.
    Silent,
}

/// Decodes the status of a header block if it is in HPACK's static table.
fn status(block: &[u8]) -> u16 {
    match block.first() {
        Some(0x88) => 200,
        Some(0x89) => 204,
        Some(0x8c) => 400,
        Some(0x8d) => 404,
        Some(0x8e) => 500,
        _ => 0,
    }
}
