//! Networks: an address and the length of its prefix.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::builtins::Failure;

/// A network of one family. IPv4 addresses in IPv6 clothes count as IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Network {
    /// Its first address.
    pub(super) first: IpAddr,
    /// How many leading bits all its addresses share.
    pub(super) prefix: u32,
}

impl Network {
    /// Reads `address/prefix`; the address may be any of the network.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        Self::read(text).ok_or_else(|| Failure::Value(format!("invalid CIDR address: {text}")))
    }

    fn read(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let written: IpAddr = address.parse().ok()?;
        let prefix: u32 = match prefix.bytes().all(|digit| digit.is_ascii_digit()) {
            true => prefix.parse().ok()?,
            false => return None,
        };
        let width = width(written);
        if prefix > width {
            return None;
        }
        let first = address_of(number(written) & mask(prefix, width), width)?;
        let plain = first.to_canonical();
        let hidden = width.checked_sub(self::width(plain))?;
        Some(Self {
            first: plain,
            // Only a prefix that covers the whole mark of an IPv4 address leaves the mark.
            prefix: prefix.checked_sub(hidden)?,
        })
    }

    /// Whether an address is in this network.
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let width = width(self.first);
        self::width(address) == width
            && number(address) & mask(self.prefix, width) == number(self.first)
    }

    /// Whether all of another network is in this one.
    pub(super) fn covers(&self, other: &Network) -> bool {
        self.prefix <= other.prefix && self.contains(other.first)
    }

    /// The numbers of its first and last address.
    pub(super) fn range(&self) -> (u128, u128) {
        let first = number(self.first);
        (
            first,
            first | !mask(self.prefix, width(self.first)) & mask_of(width(self.first)),
        )
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

/// The bits of addresses of this family.
pub(super) fn width(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => Ipv4Addr::BITS,
        IpAddr::V6(_) => Ipv6Addr::BITS,
    }
}

/// The address as a number.
pub(super) fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The address of the family of this width.
pub(super) fn address_of(number: u128, width: u32) -> Option<IpAddr> {
    if width == Ipv4Addr::BITS {
        return Some(IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(number).ok()?)));
    }
    Some(IpAddr::V6(Ipv6Addr::from_bits(number)))
}

/// Ones for all bits of a width.
fn mask_of(width: u32) -> u128 {
    u128::MAX >> (u128::BITS - width)
}

/// Ones for the leading bits of a width.
fn mask(prefix: u32, width: u32) -> u128 {
    mask_of(width) & u128::MAX.checked_shl(width - prefix).unwrap_or(0)
}
