//! What stands between two servers, and can be cut or blocked.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// What becomes of what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It arrives.
    Open,
    /// It stays where it is, and nobody is told.
    Blocked,
    /// Connections end, and new ones too.
    Cut,
}

/// A running proxy; ended with its connections when dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    way: watch::Sender<Way>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free port before an address.
    ///
    /// # Errors
    /// When no port is free.
    pub(crate) async fn start(to: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (way, seen) = watch::channel(Way::Open);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(connection(stream, to, seen.clone()));
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, way, task })
    }

    pub(crate) fn set(&self, way: Way) {
        self.way.send_replace(way);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn connection(near: TcpStream, to: SocketAddr, mut way: watch::Receiver<Way>) {
    if *way.borrow() == Way::Cut {
        return;
    }
    let Ok(far) = TcpStream::connect(to).await else {
        return;
    };
    let ((near_out, near_in), (far_out, far_in)) = (near.into_split(), far.into_split());
    let seen = way.clone();
    tokio::select! {
        cut = way.wait_for(|way| *way == Way::Cut) => drop(cut),
        _ = forward(near_out, far_in, seen.clone()) => {}
        _ = forward(far_out, near_in, seen) => {}
    }
}

async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut way: watch::Receiver<Way>,
) -> io::Result<()> {
    let mut piece = vec![0; 16 << 10];
    loop {
        let read = from.read(&mut piece).await?;
        if read == 0 {
            return Ok(());
        }
        // The proxy outlives its connections.
        drop(way.wait_for(|way| *way != Way::Blocked).await);
        to.write_all(piece.get(..read).unwrap_or_default()).await?;
    }
}
