//! Free ports for started servers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket};

/// Distance between a server's port and the port that reserves it. Some systems assign even and odd
/// ports to listeners and to connections.
const APART: u16 = 2;

/// A free port of 127.0.0.1. No other suite on this machine starts a server on it while this value
/// exists.
///
/// If two servers got the same port, the second one would seem ready, because the first one answers
/// in its place, and it would be judged by the behaviour of the first.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) number: u16,
    /// Listener on the port that reserves `number`.
    #[cfg_attr(not(test), expect(dead_code, reason = "held, and closed when dropped"))]
    reserver: TcpListener,
}

impl Port {
    /// Finds a port that is free now. Another program, or a connection, may use it before the
    /// server does; the server then fails to start and reports it.
    ///
    /// # Errors
    /// The system has no more ports.
    pub(super) fn free() -> io::Result<Self> {
        // They stay open meanwhile, so that none is found twice.
        let mut unsuitable = Vec::new();
        loop {
            let reserver = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = reserver.local_addr()?.port();
            if reserves_another(port)
                && let Some(number) = port.checked_add(APART)
                && is_free(number)
            {
                return Ok(Self { number, reserver });
            }
            unsuitable.push(reserver);
        }
    }
}

/// Whether a port reserves another one, rather than being reserved for a server.
fn reserves_another(port: u16) -> bool {
    port % (2 * APART) < APART
}

/// Whether nothing listens on a port, neither on loopback nor on all addresses.
pub(super) fn is_free(port: u16) -> bool {
    let addresses = [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED];
    addresses
        .into_iter()
        .all(|address| TcpListener::bind((address, port)).is_ok())
}

/// The address of this machine for others; none if it has only loopback.
pub(super) fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // Nothing is sent: the system only chooses the source address. The destination is an address
    // reserved for documentation.
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_servers_have_a_port() {
        // A system gives listeners some 14,000 ports; of these random ones, several would collide.
        let ports: Vec<_> = (0..400)
            .map(|_| Port::free().expect("a free port"))
            .collect();
        let numbers: BTreeSet<_> = ports.iter().map(|port| port.number).collect();
        assert_eq!(numbers.len(), ports.len(), "a port was given twice");
        let taken = |port: &Port| port.reserver.local_addr().expect("its port").port();
        let taken: BTreeSet<_> = ports.iter().map(taken).collect();
        assert!(
            taken.is_disjoint(&numbers),
            "a keeper took the port of a server"
        );
    }
}
