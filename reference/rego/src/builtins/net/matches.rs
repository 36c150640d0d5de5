//! `net.cidr_contains_matches`: pairs of networks and what they contain.

use super::network;
use super::ranges::has;
use crate::Value;
use crate::builtins::operand::{answer, any, not_utf8, refuse};
use crate::builtins::{Call, Failure};
use crate::value::Set;

/// A network, address or key of the collection, and the element that tells its text.
type Entry<'o> = (Value, &'o Value);

pub(super) fn matches(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let (outer, inner) = (entries(operands, 1), entries(operands, 2));
    // Members of sets are read before there are pairs.
    let outer_is_set = matches!(any(operands, 1), Value::Set(_));
    let mut found = Set::new();
    for (outer_key, element) in &outer {
        // Pairs are what is looked at: without one nothing is wrong.
        let mut network = None;
        if outer_is_set {
            text_of(element, 1)?;
        }
        for (inner_key, address) in &inner {
            call.check()?;
            let network = match &network {
                Some(network) => network,
                None => network.insert(network::parse(text_of(element, 1)?)?),
            };
            let address = text_of(address, 2)?;
            if has(network, address)? {
                call.make(4)?;
                found.insert(Value::from(vec![outer_key.clone(), inner_key.clone()]));
            }
        }
        call.check()?;
    }
    answer(found)
}

/// What a pair names, with the element to compare: a string itself, the index in an array, the
/// member of a set, the key of an object.
fn entries(operands: &[Value], position: usize) -> Vec<Entry<'_>> {
    match any(operands, position) {
        whole @ (Value::String(_) | Value::Bytes(_)) => vec![(whole.clone(), whole)],
        Value::Array(items) => (0_u64..)
            .zip(items.iter())
            .map(|(index, item)| (Value::from(index), item))
            .collect(),
        Value::Set(members) => members
            .iter()
            .map(|member| (member.clone(), member))
            .collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), member))
            .collect(),
        _ => Vec::new(),
    }
}

/// The text of an element: itself, or the first of an array.
fn text_of(element: &Value, position: usize) -> Result<&str, Failure> {
    let inner = match element {
        Value::Array(items) => items.first(),
        other => Some(other),
    };
    let Some(inner) = inner.filter(|_| element.is_string() || element.as_array().is_some()) else {
        return refuse(format!(
            "operand {position}: element must be string or non-empty array"
        ));
    };
    match inner {
        Value::String(text) => Ok(text),
        Value::Bytes(_) => Err(not_utf8(position)),
        other => Err(crate::builtins::operand::mistyped(1, "string", other)),
    }
}
