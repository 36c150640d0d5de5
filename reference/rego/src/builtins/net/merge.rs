//! `net.cidr_merge`: the fewest networks with the same addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::network::Network;
use crate::Value;
use crate::builtins::operand::{answer, any, refuse};
use crate::builtins::{Call, Failure};
use crate::value::Set;

/// Consecutive addresses, as the numbers of IPv6 addresses.
struct Range {
    last: u128,
    first: u128,
    /// The one network that this is, as it is shown; none when it was merged.
    network: Option<String>,
}

pub(super) fn merge(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let ranges: Result<Vec<Range>, Failure> = match any(operands, 1) {
        Value::Array(items) => items.iter().map(read).collect(),
        Value::Set(members) => members.iter().map(read).collect(),
        _ => return refuse("operand must be an array"),
    };
    let mut ranges = ranges?;
    ranges.sort_by_key(|range| (range.last, range.first));
    call.spend(ranges.len())?;
    let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
    let mut next: Option<Range> = None;
    while let Some(range) = ranges.pop() {
        next = Some(match next.take() {
            None => range,
            Some(behind) if before(behind.first) <= range.last => Range {
                first: range.first.min(behind.first),
                last: behind.last,
                network: None,
            },
            Some(behind) => {
                merged.push(behind);
                range
            }
        });
    }
    merged.extend(next);
    let mut networks = Set::new();
    for range in merged {
        match range.network {
            Some(network) => {
                networks.insert(Value::from(network));
            }
            None => networks.extend(split(range.first, range.last)),
        }
    }
    answer(networks)
}

fn read(element: &Value) -> Result<Range, Failure> {
    let Value::String(text) = element else {
        return refuse("element must be string");
    };
    let network = match text.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => return Ok(class_of(address)),
        Ok(IpAddr::V6(_)) => return refuse("IPv6 invalid: needs prefix length"),
        Err(_) => Network::parse(text)?,
    };
    Ok(range_of(&network, network.to_string()))
}

/// An address without a prefix stands for the network of its class.
fn class_of(address: Ipv4Addr) -> Range {
    let prefix = match address.octets() {
        [..128, _, _, _] => 8,
        [..192, _, _, _] => 16,
        _ => 24,
    };
    let first = IpAddr::V4(Ipv4Addr::from_bits(
        address.to_bits() & u32::MAX.checked_shl(32 - prefix).unwrap_or(0),
    ));
    range_of(&Network { first, prefix }, format!("{address}/{prefix}"))
}

fn range_of(network: &Network, shown: String) -> Range {
    let (first, last) = network.range();
    let mark = match network.first {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.to_ipv6_mapped().to_bits(),
        IpAddr::V6(_) => 0,
    };
    Range {
        first: mark | first,
        last: mark | last,
        network: Some(shown),
    }
}

/// The address before this one in its family, if there is one.
fn before(number: u128) -> u128 {
    let lowest = Ipv4Addr::UNSPECIFIED.to_ipv6_mapped().to_bits();
    match number {
        0 => 0,
        number if number == lowest => number,
        number => number - 1,
    }
}

/// The fewest networks that make up a range.
fn split(first: u128, last: u128) -> Vec<Value> {
    let mut networks = Vec::new();
    let mut at = first;
    loop {
        let room = last - at;
        // A network starts at a multiple of its size and ends within the range.
        let fits = u128::BITS - 1 - room.saturating_add(1).leading_zeros().min(127);
        let whole = at == 0 && room == u128::MAX;
        let bits = if whole {
            128
        } else {
            at.trailing_zeros().min(fits)
        };
        networks.push(Value::from(shown(at, bits).to_string()));
        let size = 1_u128.checked_shl(bits).unwrap_or(0);
        match at.checked_add(size) {
            Some(next) if next > at && next <= last => at = next,
            _ => return networks,
        }
    }
}

fn shown(number: u128, bits: u32) -> Network {
    let first = IpAddr::V6(Ipv6Addr::from_bits(number)).to_canonical();
    let prefix = super::network::width(first).saturating_sub(bits);
    Network { first, prefix }
}
