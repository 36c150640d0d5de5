//! `net.cidr_merge`: the minimal set of networks with the same addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, IpSub, Ipv6Net, Ipv6Subnets};

use super::network::{self, MARK};
use crate::Value;
use crate::builtins::operand::{answer, any, refuse};
use crate::builtins::{Call, Failure};
use crate::value::Set;

/// Address range, in IPv6 form.
struct Range {
    last: Ipv6Addr,
    first: Ipv6Addr,
    /// Original network; absent in a merged range.
    network: Option<IpNet>,
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
            Some(later) if predecessor(later.first) <= range.last => Range {
                first: range.first.min(later.first),
                last: later.last,
                network: None,
            },
            Some(later) => {
                merged.push(later);
                range
            }
        });
    }
    merged.extend(next);
    let mut networks = Set::new();
    let to_value = |network: IpNet| Value::from(network.to_string());
    for range in merged {
        match range.network {
            Some(network) => networks.extend([to_value(network)]),
            None => networks.extend(
                Ipv6Subnets::new(range.first, range.last, 0)
                    .map(unmapped)
                    .map(to_value),
            ),
        }
    }
    answer(networks)
}

fn read(element: &Value) -> Result<Range, Failure> {
    let Value::String(text) = element else {
        return refuse("element must be string");
    };
    let network = match text.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => class_of(address),
        Ok(IpAddr::V6(_)) => return refuse("IPv6 invalid: needs prefix length"),
        Err(_) => network::parse(text)?,
    };
    Ok(Range {
        first: mapped(network.network()),
        last: mapped(network.broadcast()),
        network: Some(network),
    })
}

/// Returns the classful network of an address without a prefix.
fn class_of(address: Ipv4Addr) -> IpNet {
    let prefix = match address.octets() {
        [..128, _, _, _] => 8,
        [..192, _, _, _] => 16,
        _ => 24,
    };
    let address = IpAddr::V4(address);
    IpNet::new(address, prefix).unwrap_or(address.into())
}

fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// Returns the previous address of the same family, or the address itself if it is the first.
fn predecessor(address: Ipv6Addr) -> Ipv6Addr {
    match address == Ipv4Addr::UNSPECIFIED.to_ipv6_mapped() {
        true => address,
        false => address.saturating_sub(1_u128),
    }
}

/// Converts a network to IPv4 if its first address is IPv4-mapped.
fn unmapped(network: Ipv6Net) -> IpNet {
    let address = network.addr().to_ipv4_mapped();
    let prefix = network.prefix_len().checked_sub(MARK);
    let unmapped = address.zip(prefix);
    let unmapped = unmapped.and_then(|(address, prefix)| IpNet::new(address.into(), prefix).ok());
    unmapped.unwrap_or(network.into())
}
