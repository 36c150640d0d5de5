//! `net.cidr_contains`, `net.cidr_expand`, `net.cidr_intersects` and `net.cidr_is_valid`.

use std::net::IpAddr;

use ipnet::IpNet;

use super::network;
use crate::Value;
use crate::builtins::operand::{answer, any, refuse, text};
use crate::builtins::{Call, Failure};
use crate::value::Set;

/// Maximum number of host bits of a network that is expanded.
pub(super) const MAX_BITS: u8 = 20;

pub(super) fn contains(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let network = network::parse(text(operands, 1)?)?;
    answer(has(&network, text_of_inner(operands)?)?)
}

/// Returns the second operand, which messages number as the first.
fn text_of_inner(operands: &[Value]) -> Result<&str, Failure> {
    text(operands.get(1..).unwrap_or_default(), 1).map(|text| &**text)
}

/// Whether an address or network is in a network.
pub(super) fn has(network: &IpNet, inner: &str) -> Result<bool, Failure> {
    if let Ok(address) = inner.parse::<IpAddr>() {
        return Ok(network.contains(&address.to_canonical()));
    }
    match network::parse(inner) {
        Ok(inner) => Ok(network.contains(&inner)),
        Err(_) => refuse(format!(
            "not a valid textual representation of an IP address or CIDR: {inner}"
        )),
    }
}

pub(super) fn intersects(
    _call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    let first = network::parse(text(operands, 1)?)?;
    let second = network::parse(text_of_inner(operands)?)?;
    answer(first.contains(&second) || second.contains(&first))
}

pub(super) fn is_valid(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let network = any(operands, 1).as_str();
    answer(network.is_some_and(|text| network::parse(text).is_ok()))
}

pub(super) fn expand(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let network = network::parse(text(operands, 1)?)?;
    let address_bits = network.max_prefix_len();
    if address_bits - network.prefix_len() > MAX_BITS {
        let maximum = 1 << MAX_BITS;
        return refuse(format!("{network} has more than {maximum} addresses"));
    }
    let mut addresses = Set::new();
    for subnet in network.subnets(address_bits).into_iter().flatten() {
        call.make(4)?;
        addresses.insert(Value::from(subnet.addr().to_string()));
    }
    answer(addresses)
}
