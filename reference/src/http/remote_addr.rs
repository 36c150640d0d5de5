//! Address of a client.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Over the network.
    Tcp(SocketAddr),
    /// Over a socket in the file system, where clients have no address.
    Unix,
}

impl Peer {
    /// The address whose share of the connections it takes; clients without one share that of this
    /// machine.
    pub(super) fn ip(self) -> IpAddr {
        match self {
            Self::Tcp(address) => address.ip(),
            Self::Unix => IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(formatter),
            Self::Unix => formatter.write_str("@"),
        }
    }
}
