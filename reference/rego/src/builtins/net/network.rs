//! Networks: an address and a prefix length.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::builtins::Failure;

/// Length in bits of the prefix of IPv4-mapped IPv6 addresses.
pub(super) const MARK: u8 = 96;

/// Parses `address/prefix`; any address of the network is accepted. IPv4-mapped IPv6 addresses
/// count as IPv4.
pub(super) fn parse(text: &str) -> Result<IpNet, Failure> {
    read(text).ok_or_else(|| Failure::Value(format!("invalid CIDR address: {text}")))
}

fn read(text: &str) -> Option<IpNet> {
    let (address, prefix) = text.split_once('/')?;
    let prefix: u8 = match prefix.bytes().all(|digit| digit.is_ascii_digit()) {
        true => prefix.parse().ok()?,
        false => return None,
    };
    let network = IpNet::new(address.parse().ok()?, prefix).ok()?.trunc();
    match (network.addr(), network.addr().to_canonical()) {
        // Only a prefix that covers the whole IPv4-mapped prefix is an IPv4 network.
        (IpAddr::V6(_), IpAddr::V4(v4)) => IpNet::new(v4.into(), prefix.checked_sub(MARK)?).ok(),
        _ => Some(network),
    }
}
