//! `net.cidr_contains`, `net.cidr_expand`, `net.cidr_intersects` and `net.cidr_is_valid`.

use std::net::IpAddr;

use super::network::{Network, address_of, width};
use crate::Value;
use crate::builtins::operand::{answer, any, refuse, text};
use crate::builtins::{Call, Failure};
use crate::value::Set;

/// A network is written out up to this number of addresses.
const MAX_ADDRESSES: u128 = 1 << 20;

pub(super) fn contains(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let network = Network::parse(text(operands, 1)?)?;
    answer(has(&network, text_of_inner(operands)?)?)
}

/// The second operand, which messages call the first.
fn text_of_inner(operands: &[Value]) -> Result<&str, Failure> {
    text(operands.get(1..).unwrap_or_default(), 1).map(|text| &**text)
}

/// Whether an address or network, as text, is in a network.
pub(super) fn has(network: &Network, inner: &str) -> Result<bool, Failure> {
    if let Ok(address) = inner.parse::<IpAddr>() {
        return Ok(network.contains(address));
    }
    match Network::parse(inner) {
        Ok(inner) => Ok(network.covers(&inner)),
        Err(_) => refuse(format!(
            "not a valid textual representation of an IP address or CIDR: {inner}"
        )),
    }
}

pub(super) fn intersects(
    _call: &mut Call<'_>,
    operands: &[Value],
) -> Result<Option<Value>, Failure> {
    let first = Network::parse(text(operands, 1)?)?;
    let second = Network::parse(text_of_inner(operands)?)?;
    answer(first.contains(second.first) || second.contains(first.first))
}

pub(super) fn is_valid(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let network = any(operands, 1).as_str();
    answer(network.is_some_and(|text| Network::parse(text).is_ok()))
}

pub(super) fn expand(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let network = Network::parse(text(operands, 1)?)?;
    let (first, last) = network.range();
    if last - first >= MAX_ADDRESSES {
        return refuse(format!("{network} has more than {MAX_ADDRESSES} addresses"));
    }
    let mut addresses = Set::new();
    for number in first..=last {
        call.make(4)?;
        let address = address_of(number, width(network.first));
        addresses.extend(address.map(|address| Value::from(address.to_string())));
    }
    answer(addresses)
}
