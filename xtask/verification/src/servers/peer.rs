//! A scripted server: answers, hangs or closes the connection.

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

/// What a peer does with a request.
#[derive(Debug, Clone)]
pub(crate) enum PeerScript {
    /// A status, further headers each with its line end, and a body.
    Answer(u16, String, Vec<u8>),
    /// Bytes as they are, and then a piece again and again, with a pause before each; nothing more
    /// where the piece is empty.
    Stream(Vec<u8>, Vec<u8>, Duration),
    /// Bytes as they are, and the end of the connection.
    Cut(Vec<u8>),
    /// Nothing, for ever.
    Hang,
    /// The end of the connection.
    Close,
}

impl PeerScript {
    /// An answer with nothing but its status.
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, String::new(), Vec::new())
    }
}

type Saying = Pin<Box<dyn Future<Output = PeerScript> + Send>>;
type Handler = Arc<dyn Fn(Message) -> Saying + Send + Sync>;
type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;
type Gate = Arc<dyn Fn(&Message) -> Waiting + Send + Sync>;

/// A running peer; ended with its connections when dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Peer {
    /// Listens on an address of the loopback interface, by port or on a free one (0).
    ///
    /// # Errors
    /// When the port is taken.
    pub(crate) async fn start<F>(
        port: u16,
        handler: impl Fn(Message) -> F + Send + Sync + 'static,
    ) -> io::Result<Self>
    where
        F: Future<Output = PeerScript> + Send + 'static,
    {
        Self::behind(port, |_| async {}, handler).await
    }

    /// The same, but the body of a request is read only when its head has been let through.
    ///
    /// # Errors
    /// When the port is taken.
    pub(crate) async fn behind<G, F>(
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
        let handler: Handler = Arc::new(move |asked| Box::pin(handler(asked)));
        let gate: Gate = Arc::new(move |asked| Box::pin(gate(asked)));
        let task = tokio::spawn(serve(listener, gate, handler));
        Ok(Self { address, task })
    }

    /// Ends it, and frees its port.
    pub(crate) async fn end(mut self) {
        self.task.abort();
        // It was told to end.
        drop((&mut self.task).await);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, gate: Gate, handler: Handler) {
    // Dropped with the task, and its connections with it.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection(stream, Arc::clone(&gate), Arc::clone(&handler)));
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(stream: TcpStream, gate: Gate, handler: Handler) {
    let mut reader = Reader::new(stream);
    while let Ok(Some(mut asked)) = reader.begin().await {
        gate(&asked).await;
        if reader.finish(&mut asked).await.is_err() {
            return;
        }
        let head = asked.first.starts_with("HEAD ");
        match handler(asked).await {
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
                // The client has left.
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

/// Writes bytes, and then a piece until the client leaves.
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
