//! A server that answers everything with an empty document, and what it was sent.

use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::Failed;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What every request is answered with.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
    content-length: 2\r\netag: \"e\"\r\n\
    last-modified: Sun, 01 Nov 2026 00:00:00 GMT\r\nconnection: close\r\n\r\n{}";

/// A server on the loopback interface, until the runtime ends.
pub(crate) struct Listener {
    /// `127.0.0.1:PORT`.
    pub(crate) address: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    pub(crate) async fn start() -> Result<Self, Failed> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let seen = Arc::clone(&seen);
                tokio::spawn(async move {
                    if let Ok(head) = answered(stream).await {
                        seen.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(head);
                    }
                });
            }
        });
        Ok(Self { address, heads })
    }

    /// The heads of the requests for a path, in lower case.
    pub(crate) fn requests(&self, path: &str) -> Vec<String> {
        self.requests_below(&format!("{path} "))
    }

    /// The heads of the requests for paths that begin so, in lower case.
    pub(crate) fn requests_below(&self, path: &str) -> Vec<String> {
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let own = heads.iter().filter(|head| {
            let target = head.split_once(' ').map(|(_, target)| target);
            target.is_some_and(|target| target.starts_with(path))
        });
        own.cloned().collect()
    }
}

/// Answers one request; gives its head.
async fn answered(mut stream: TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&head).to_lowercase();
    stream.write_all(ANSWER).await?;
    stream.shutdown().await?;
    Ok(text)
}
