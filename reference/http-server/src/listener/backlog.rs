//! Closes a listener without resetting connections in its backlog.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tracing::debug;

use super::listening_socket::ListeningSocket;
use crate::remote_addr::Peer;
use crate::socket::Transport;

/// Quiet period without a new connection before the listener closes, and the maximum wait for it.
const QUIET: Duration = Duration::from_millis(50);
const MAX_DRAIN: Duration = Duration::from_millis(500);

/// Makes the system reject new connections, so that only accepted ones are left. Clients that
/// connect now get a refusal after their next attempt.
#[cfg(target_os = "linux")]
pub(super) fn shut(listener: &ListeningSocket) {
    use socket2::{SockFilter, SockRef};

    /// Offset of the flags in a TCP header.
    const FLAGS: u32 = 13;
    const SYN: u32 = 0x02;
    const SYN_AND_ACK: u32 = 0x12;
    // Instructions of the classic packet filter: load byte, and, compare, return.
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

/// Unsupported on other systems.
#[cfg(not(target_os = "linux"))]
pub(super) fn shut(_listener: &ListeningSocket) {}

/// Backlog of a listener that closes: connections that the system has already accepted.
pub(super) struct Backlog {
    listener: ListeningSocket,
    end: Instant,
}

impl Backlog {
    pub(super) fn new(listener: ListeningSocket) -> Self {
        let end = Instant::now() + MAX_DRAIN;
        Self { listener, end }
    }

    /// Next connection, or `None` after the quiet period.
    pub(super) async fn next(&self) -> Option<(Transport, Peer)> {
        loop {
            let quiet = (Instant::now() + QUIET).min(self.end);
            match timeout_at(quiet, self.listener.accept()).await {
                Ok(Ok(accepted)) => return Some(accepted),
                // A client that disconnected meanwhile does not affect the others.
                Ok(Err(failure)) => debug!(%failure, "cannot accept a connection"),
                Err(_) => return None,
            }
            if Instant::now() >= self.end {
                return None;
            }
        }
    }
}
