//! HTTP/1 connections with a chosen source address.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::HANG_LIMIT;
use super::message::{Message, Reader};

/// Error of an asynchronous task.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// HTTP/1 connection.
#[derive(Debug)]
pub(crate) struct Wire {
    reader: Reader<TcpStream>,
}

impl Wire {
    /// Connects to a server, with a loopback address as the source.
    ///
    /// # Errors
    /// When the server does not accept the connection.
    pub(crate) async fn connect(to: SocketAddr, from: [u8; 4]) -> io::Result<Self> {
        Self::connect_with_buffer(to, from, None).await
    }

    /// Connects like [`Wire::connect`], with a receive buffer of a given size in bytes.
    ///
    /// # Errors
    /// When the server does not accept the connection.
    pub(crate) async fn connect_with_buffer(
        to: SocketAddr,
        from: [u8; 4],
        buffer: Option<u32>,
    ) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        if let Some(buffer) = buffer {
            socket.set_recv_buffer_size(buffer)?;
        }
        socket.bind(SocketAddr::new(IpAddr::from(from), 0))?;
        let stream = within(HANG_LIMIT, socket.connect(to)).await?;
        stream.set_nodelay(true)?;
        let reader = Reader::new(stream);
        Ok(Self { reader })
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// When the server has closed the connection, or does not read for a long time.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        within(HANG_LIMIT, self.reader.stream.write_all(bytes)).await
    }

    /// Reads the next response, with the timeout [`HANG_LIMIT`].
    ///
    /// # Errors
    /// When no response arrives.
    pub(crate) async fn answer(&mut self) -> io::Result<Message> {
        self.answer_within(HANG_LIMIT).await
    }

    /// Reads the next response, with a timeout.
    ///
    /// # Errors
    /// When no response arrives in time.
    pub(crate) async fn answer_within(&mut self, time: Duration) -> io::Result<Message> {
        let message = within(time, self.reader.message(false)).await?;
        message.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Reads the head of the next response. The connection cannot be used afterwards, because the
    /// body is not read.
    ///
    /// # Errors
    /// When no response arrives.
    pub(crate) async fn head(mut self) -> io::Result<Message> {
        let message = within(HANG_LIMIT, self.reader.message(true)).await?;
        message.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Sends a request and reads its response.
    ///
    /// # Errors
    /// When no response arrives.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> io::Result<Message> {
        self.send(request).await?;
        self.answer().await
    }

    /// Returns true if the server closes the connection within a time; received data is ignored.
    pub(crate) async fn closes(&mut self, time: Duration) -> bool {
        let ended = async { while matches!(self.reader.more().await, Ok(true)) {} };
        timeout(time, ended).await.is_ok()
    }

    /// Closes the sending side of the connection, which ends the client's data.
    ///
    /// # Errors
    /// When the connection is already closed.
    pub(crate) async fn half_close(&mut self) -> io::Result<()> {
        self.reader.stream.shutdown().await
    }

    /// Resets the connection.
    ///
    /// # Errors
    /// When the connection is already closed.
    pub(crate) fn reset(self) -> io::Result<()> {
        self.reader.stream.set_zero_linger()
    }

    /// Returns the stream, for protocols other than HTTP/1.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.reader.stream
    }
}

/// Sends a request on a new connection, and reads the response.
///
/// # Errors
/// When there is no response.
pub(crate) async fn exchange(to: SocketAddr, from: [u8; 4], request: &[u8]) -> io::Result<Message> {
    Wire::connect(to, from).await?.exchange(request).await
}

/// Sends a request on a new connection. A failure status of the response is an error.
///
/// # Errors
/// When there is no response, or its status is a failure.
pub(crate) async fn exchange_ok(
    to: SocketAddr,
    from: [u8; 4],
    request: &[u8],
) -> Result<Message, Failure> {
    let answer = exchange(to, from, request).await?;
    match answer.status() {
        200..=299 => Ok(answer),
        status => {
            let head = request.split(|byte| *byte == b'\r').next();
            let head = String::from_utf8_lossy(head.unwrap_or_default());
            Err(format!("{head}: {status} {}", answer.text()).into())
        }
    }
}

/// Formats a request.
pub(crate) fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
    request_with(method, path, "", body.as_bytes())
}

/// Formats a request with additional header lines, each with its line end.
pub(crate) fn request_with(method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut bytes = format!(
        "{method} {path} HTTP/1.1\r\nHost: server\r\n{headers}Content-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    bytes.extend(body);
    bytes
}

/// Awaits a future, with a timeout.
///
/// # Errors
/// The error of the future, or a timeout.
pub(crate) async fn within<T>(
    time: Duration,
    future: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let outcome = timeout(time, future).await;
    outcome.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
