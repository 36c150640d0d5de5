//! Client identity for connection limits: addresses that count as one client.

use std::net::{IpAddr, Ipv6Addr};

/// IPv4 address, or /64 network of an IPv6 address, all of which one client may own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Address(IpAddr);

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        // A dual-stack listener sees IPv4 addresses as IPv4-mapped IPv6 addresses.
        Self(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let network = address.to_bits() & !u128::from(u64::MAX);
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::same_v4("127.0.0.1", "127.0.0.1", true)]
    #[case::other_v4("127.0.0.1", "127.0.0.2", false)]
    #[case::mapped("::ffff:127.0.0.1", "127.0.0.1", true)]
    #[case::other_mapped("::ffff:127.0.0.1", "::ffff:127.0.0.2", false)]
    #[case::same_network("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true)]
    #[case::other_network("2001:db8:1:2::1", "2001:db8:1:3::1", false)]
    #[case::same_v6("::1", "::1", true)]
    fn networks_are_one_client(#[case] one: &str, #[case] other: &str, #[case] same: bool) {
        let addresses = [one, other].map(|text| text.parse::<IpAddr>().map(Address::from));
        assert!(addresses.iter().all(Result::is_ok));
        let [one_client, other_client] = addresses;
        assert_eq!(one_client == other_client, same);
    }
}
