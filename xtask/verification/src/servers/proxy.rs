//! TCP proxy that can disconnect, block and delay connections.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

/// Delay of each piece of data in the mode `Slow`.
const DELAY: Duration = Duration::from_millis(200);

/// Mode of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyMode {
    /// Forwards data immediately.
    Open,
    /// Forwards data with a delay.
    Slow,
    /// Retains data in both directions, without closing connections.
    Blocked,
    /// Retains data in one direction: to the server, or from the server.
    NothingTo,
    NothingFrom,
    /// Closes all connections, including new ones.
    Cut,
}

/// Direction of data, in relation to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    To,
    From,
}

impl ProxyMode {
    /// Returns true if the mode retains data in a direction.
    fn holds(self, direction: Direction) -> bool {
        match self {
            Self::Blocked => true,
            Self::NothingTo => direction == Direction::To,
            Self::NothingFrom => direction == Direction::From,
            Self::Open | Self::Slow | Self::Cut => false,
        }
    }
}

/// State shared by all connections of a proxy.
#[derive(Debug, Clone, Copy)]
struct State {
    mode: ProxyMode,
    /// Number of the first connection on which data is forwarded; earlier ones are blocked forever.
    first: u64,
    /// Number of accepted connections so far.
    accepted: u64,
}

/// Running proxy; stopped with its connections when dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    state: watch::Sender<State>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy on a free port, in front of the server at an address.
    ///
    /// # Errors
    /// When no port is free.
    pub(crate) async fn start(to: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (state, _) = watch::channel(State {
            mode: ProxyMode::Open,
            first: 0,
            accepted: 0,
        });
        let known = state.clone();
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                known.send_modify(|state| state.accepted += 1);
                let number = known.borrow().accepted;
                connections.spawn(connection(stream, to, number, known.subscribe()));
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self {
            address,
            state,
            task,
        })
    }

    pub(crate) fn set(&self, mode: ProxyMode) {
        self.state.send_modify(|state| state.mode = mode);
    }

    /// Blocks all existing connections forever, without closing them.
    pub(crate) fn forget(&self) {
        self.state
            .send_modify(|state| state.first = state.accepted + 1);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn connection(
    near: TcpStream,
    to: SocketAddr,
    number: u64,
    mut state: watch::Receiver<State>,
) {
    if state.borrow().mode == ProxyMode::Cut {
        return;
    }
    let Ok(far) = TcpStream::connect(to).await else {
        return;
    };
    let ((near_out, near_in), (far_out, far_in)) = (near.into_split(), far.into_split());
    let seen = state.clone();
    tokio::select! {
        cut = state.wait_for(|state| state.mode == ProxyMode::Cut) => drop(cut),
        _ = forward(near_out, far_in, (number, Direction::To), seen.clone()) => {}
        _ = forward(far_out, near_in, (number, Direction::From), seen) => {}
    }
}

async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    (number, direction): (u64, Direction),
    mut state: watch::Receiver<State>,
) -> io::Result<()> {
    let mut piece = vec![0; 16 << 10];
    loop {
        let read = from.read(&mut piece).await?;
        if read == 0 {
            return Ok(());
        }
        let arrives = |state: &State| number >= state.first && !state.mode.holds(direction);
        // Fails only if the proxy was dropped.
        let is_slow = state.wait_for(arrives).await;
        let is_slow = is_slow.is_ok_and(|state| state.mode == ProxyMode::Slow);
        if is_slow {
            sleep(DELAY).await;
        }
        to.write_all(piece.get(..read).unwrap_or_default()).await?;
    }
}
