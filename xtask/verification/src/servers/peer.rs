//! Scripted server: a handler decides for each request if it responds, hangs or disconnects.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

use super::message::{Message, Reader};

/// Reaction to a request.
#[derive(Debug, Clone)]
pub(crate) enum PeerScript {
    /// Responds with a status, additional header lines (each with its line end), and a body.
    Answer(u16, String, Vec<u8>),
    /// Sends raw bytes, then a chunk again and again, with a pause before each. If the chunk is
    /// empty, sends nothing more and leaves the connection open.
    Stream(Vec<u8>, Vec<u8>, Duration),
    /// Sends raw bytes and closes the connection.
    Cut(Vec<u8>),
    /// Never responds.
    Hang,
    /// Closes the connection without a response.
    Close,
}

impl PeerScript {
    /// Returns a response with a status and an empty body.
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, String::new(), Vec::new())
    }
}

type ScriptFuture = Pin<Box<dyn Future<Output = PeerScript> + Send>>;
type Handler = Arc<dyn Fn(Message) -> ScriptFuture + Send + Sync>;
type WaitFuture = Pin<Box<dyn Future<Output = ()> + Send>>;
type Gate = Arc<dyn Fn(&Message) -> WaitFuture + Send + Sync>;

/// Running scripted server; stopped with its connections when dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Peer {
    /// Starts a server on a loopback port; 0 selects a free one.
    ///
    /// # Errors
    /// When the port is in use.
    pub(crate) async fn start<F>(
        port: u16,
        handler: impl Fn(Message) -> F + Send + Sync + 'static,
    ) -> io::Result<Self>
    where
        F: Future<Output = PeerScript> + Send + 'static,
    {
        Self::start_gated(port, |_| async {}, handler).await
    }

    /// Starts a server on a loopback port; 0 selects a free one. For each request, the server reads
    /// the head, waits for the future that `gate` returns for it, and only then reads the body.
    ///
    /// # Errors
    /// When the port is in use.
    pub(crate) async fn start_gated<G, F>(
        port: u16,
        gate: impl Fn(&Message) -> G + Send + Sync + 'static,
        handler: impl Fn(Message) -> F + Send + Sync + 'static,
    ) -> io::Result<Self>
    where
        G: Future<Output = ()> + Send + 'static,
        F: Future<Output = PeerScript> + Send + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let handler: Handler = Arc::new(move |request| Box::pin(handler(request)));
        let gate: Gate = Arc::new(move |request| Box::pin(gate(request)));
        let task = tokio::spawn(serve(listener, gate, handler));
        Ok(Self { address, task })
    }

    /// Stops the server and frees its port.
    pub(crate) async fn end(mut self) {
        self.task.abort();
        // The task was aborted, so its result is an error.
        drop((&mut self.task).await);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, gate: Gate, handler: Handler) {
    // Dropping the set aborts its tasks, which closes all connections.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection(stream, Arc::clone(&gate), Arc::clone(&handler)));
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(stream: TcpStream, gate: Gate, handler: Handler) {
    let mut reader = Reader::new(stream);
    while let Ok(Some(mut request)) = reader.begin().await {
        gate(&request).await;
        if reader.finish(&mut request).await.is_err() {
            return;
        }
        let head = request.first.starts_with("HEAD ");
        match handler(request).await {
            PeerScript::Answer(status, headers, body) => {
                let length = body.len();
                let mut bytes = format!(
                    "HTTP/1.1 {status} As-Asked\r\n{headers}Content-Length: {length}\r\n\r\n"
                )
                .into_bytes();
                if !head {
                    bytes.extend(body);
                }
                if reader.stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            PeerScript::Stream(start, piece, pause) => {
                // An error means that the client has disconnected.
                drop(stream_on(&mut reader.stream, &start, &piece, pause).await);
                return;
            }
            PeerScript::Cut(bytes) => {
                drop(reader.stream.write_all(&bytes).await);
                return;
            }
            PeerScript::Hang => std::future::pending().await,
            PeerScript::Close => return,
        }
    }
}

/// Writes bytes, then a chunk repeatedly, until the client disconnects.
async fn stream_on(
    to: &mut TcpStream,
    start: &[u8],
    piece: &[u8],
    pause: Duration,
) -> io::Result<()> {
    to.write_all(start).await?;
    if piece.is_empty() {
        std::future::pending::<()>().await;
    }
    loop {
        sleep(pause).await;
        to.write_all(piece).await?;
    }
}
