//! Raw connections with a chosen source address.

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
    /// Connects to a server from a loopback address.
    ///
    /// # Errors
    /// When the server does not accept the connection.
    pub(crate) async fn connect(to: SocketAddr, from: [u8; 4]) -> io::Result<Self> {
        Self::narrow(to, from, None).await
    }

    /// Connects from a loopback address, with a receive buffer of this size in bytes.
    ///
    /// # Errors
    /// When the server does not accept the connection.
    pub(crate) async fn narrow(
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
    /// When the server has closed the connection, or does not read.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        within(HANG_LIMIT, self.reader.stream.write_all(bytes)).await
    }

    /// Reads the next response.
    ///
    /// # Errors
    /// When none arrives.
    pub(crate) async fn answer(&mut self) -> io::Result<Message> {
        self.answer_within(HANG_LIMIT).await
    }

    /// Reads the next response, which must arrive within a time.
    ///
    /// # Errors
    /// When none arrives.
    pub(crate) async fn answer_within(&mut self, time: Duration) -> io::Result<Message> {
        let message = within(time, self.reader.message(false)).await?;
        message.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Reads the head of the next response without its body. Consumes the connection, as nothing
    /// after the head can be read.
    ///
    /// # Errors
    /// When none arrives.
    pub(crate) async fn head(mut self) -> io::Result<Message> {
        let message = within(HANG_LIMIT, self.reader.message(true)).await?;
        message.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Sends a request and reads its response.
    ///
    /// # Errors
    /// When none arrives.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<Message> {
        self.send(request).await?;
        self.answer().await
    }

    /// Whether the server closes the connection within this time, ignoring any data.
    pub(crate) async fn closes(&mut self, time: Duration) -> bool {
        let ended = async { while matches!(self.reader.more().await, Ok(true)) {} };
        timeout(time, ended).await.is_ok()
    }

    /// Closes the sending side of the connection.
    ///
    /// # Errors
    /// When the connection is closed.
    pub(crate) async fn half_close(&mut self) -> io::Result<()> {
        self.reader.stream.shutdown().await
    }

    /// Resets the connection.
    ///
    /// # Errors
    /// When the connection is closed.
    pub(crate) fn reset(self) -> io::Result<()> {
        self.reader.stream.set_zero_linger()
    }

    /// Returns the stream, for protocols other than HTTP/1.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.reader.stream
    }
}

/// Sends one request on a new connection, and reads its response.
///
/// # Errors
/// When there is no response.
pub(crate) async fn ask(to: SocketAddr, from: [u8; 4], request: &[u8]) -> io::Result<Message> {
    Wire::connect(to, from).await?.ask(request).await
}

/// Sends one request on a new connection; the response must report success.
///
/// # Errors
/// When there is no response, or it does not report success.
pub(crate) async fn done(to: SocketAddr, from: [u8; 4], asked: &[u8]) -> Result<Message, Failure> {
    let answer = ask(to, from, asked).await?;
    match answer.status() {
        200..=299 => Ok(answer),
        status => {
            let head = asked.split(|byte| *byte == b'\r').next();
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

/// Awaits a future with a timeout.
///
/// # Errors
/// Returns errors of the future, and a timeout.
pub(crate) async fn within<T>(
    time: Duration,
    future: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let outcome = timeout(time, future).await;
    outcome.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
