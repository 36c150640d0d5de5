//! Address of a client.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Peer of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// TCP client.
    Tcp(SocketAddr),
    /// Client of a Unix domain socket, which has no address.
    Unix,
}

impl Peer {
    /// Address that connections of the peer count for; a peer without an address counts as local.
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
