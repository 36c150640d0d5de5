//! Free ports for started servers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket};

/// How far the port of a server is from the one that keeps it. Systems that tell the ports of
/// listeners from those of connections do it by whether they are even.
const APART: u16 = 2;

/// A free port of 127.0.0.1. No other suite on this machine starts a server on it while this is
/// kept.
///
/// Were one port given to two servers, the one that comes second would seem ready, as the first one
/// answers for it, and it would be judged by what the first one does.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) number: u16,
    /// Who listens here alone gives that port to a server.
    #[cfg_attr(not(test), expect(dead_code, reason = "held, and closed when dropped"))]
    keeper: TcpListener,
}

impl Port {
    /// A port that is free now. Another program, or a connection, may take it before the server
    /// does; the server then fails to start and says so.
    ///
    /// # Errors
    /// When the system has no more ports.
    pub(super) fn free() -> io::Result<Self> {
        // They are held meanwhile, so that none is found twice.
        let mut unsuitable = Vec::new();
        loop {
            let keeper = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = keeper.local_addr()?.port();
            if keeps_another(port)
                && let Some(number) = port.checked_add(APART)
                && is_free(number)
            {
                return Ok(Self { number, keeper });
            }
            unsuitable.push(keeper);
        }
    }
}

/// Whether a port keeps another one, and is not kept itself for a server that is yet to listen.
fn keeps_another(port: u16) -> bool {
    port % (2 * APART) < APART
}

/// Whether nobody listens on a port, at whatever address.
pub(super) fn is_free(port: u16) -> bool {
    let addresses = [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED];
    addresses
        .into_iter()
        .all(|address| TcpListener::bind((address, port)).is_ok())
}

/// The address that other machines know this one by; none if it has none but loopback.
pub(super) fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // Nothing is sent: the system only chooses the address that it would be sent from. The other
    // is one of those that stand in documents and are nobody's.
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
        // Of some 14,000 ports that a system gives listeners, chosen by chance, several of these
        // would be the same.
        let ports: Vec<_> = (0..400)
            .map(|_| Port::free().expect("a free port"))
            .collect();
        let numbers: BTreeSet<_> = ports.iter().map(|port| port.number).collect();
        assert_eq!(numbers.len(), ports.len(), "a port was given twice");
        let taken = |port: &Port| port.keeper.local_addr().expect("its port").port();
        let taken: BTreeSet<_> = ports.iter().map(taken).collect();
        assert!(
            taken.is_disjoint(&numbers),
            "a keeper took the port of a server"
        );
    }
}
