//! Networks: an address and the length of its prefix.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::builtins::Failure;

/// So many bits mark an IPv4 address in an IPv6 address.
pub(super) const MARK: u8 = 96;

/// Reads `address/prefix`; the address may be any of the network. IPv4 addresses in IPv6 clothes
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
        // Only a prefix that covers the whole mark of an IPv4 address leaves the mark.
        (IpAddr::V6(_), IpAddr::V4(plain)) => {
            IpNet::new(plain.into(), prefix.checked_sub(MARK)?).ok()
        }
        _ => Some(network),
    }
}
