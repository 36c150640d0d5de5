//! Closes a listener without resetting connections in its backlog.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tracing::debug;

use super::listening_socket::ListeningSocket;
use crate::http::remote_addr::Peer;
use crate::http::socket::Transport;

/// How long nothing more must arrive before the listener closes, and how long it goes on at most.
const QUIET: Duration = Duration::from_millis(50);
const MAX_DRAIN: Duration = Duration::from_millis(500);

/// Has the system take no new connections, so that only those are left which it has taken.
/// Clients that begin now are told after their next try that nobody listens.
#[cfg(target_os = "linux")]
pub(super) fn shut(listener: &ListeningSocket) {
    use socket2::{SockFilter, SockRef};

    /// The byte of a TCP header that holds its flags.
    const FLAGS: u32 = 13;
    const SYN: u32 = 0x02;
    const SYN_AND_ACK: u32 = 0x12;
    // Instructions of the classic packet filter: load a byte, and, compare, return.
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;

    let ListeningSocket::Tcp(listener) = listener else {
        return;
    };
    let filter = [
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS),
        SockFilter::new(AND, 0, 0, SYN_AND_ACK),
        SockFilter::new(IF_EQUAL, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ];
    if let Err(failure) = SockRef::from(listener).attach_filter(&filter) {
        debug!(%failure, "connections that begin while the listener closes may be reset");
    }
}

/// Other systems cannot.
#[cfg(not(target_os = "linux"))]
pub(super) fn shut(_listener: &ListeningSocket) {}

/// The connections that the system had taken, until there are no more.
pub(super) struct Backlog {
    listener: ListeningSocket,
    end: Instant,
}

impl Backlog {
    pub(super) fn new(listener: ListeningSocket) -> Self {
        let end = Instant::now() + MAX_DRAIN;
        Self { listener, end }
    }

    /// The next connection, if there is one.
    pub(super) async fn next(&self) -> Option<(Transport, Peer)> {
        loop {
            let quiet = (Instant::now() + QUIET).min(self.end);
            match timeout_at(quiet, self.listener.accept()).await {
                Ok(Ok(accepted)) => return Some(accepted),
                // A client that went away meanwhile is no reason to forget the others.
                Ok(Err(failure)) => debug!(%failure, "cannot accept a connection"),
                Err(_) => return None,
            }
            if Instant::now() >= self.end {
                return None;
            }
        }
    }
}
