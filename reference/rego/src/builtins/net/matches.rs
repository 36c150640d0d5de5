//! `net.cidr_contains_matches`: pairs of networks and what they contain.

use super::network;
use super::ranges::has;
use crate::Value;
use crate::builtins::operand::{answer, any, not_utf8, refuse};
use crate::builtins::{Call, Failure};
use crate::value::Set;

/// Key of a network or address in results, and the element that is or contains its string.
type Entry<'o> = (Value, &'o Value);

pub(super) fn matches(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let (outer, inner) = (entries(operands, 1), entries(operands, 2));
    let mut found = Set::new();
    for (outer_key, element) in &outer {
        let element = element_of(element, 1)?;
        // Networks are parsed for pairs only, so without a pair their errors are not reported.
        let mut network = None;
        for (inner_key, address) in &inner {
            call.check()?;
            let address = element_of(address, 2)?;
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

/// Returns the entries of an operand. Their keys are indexes of an array, keys of an object, and
/// members of a set, or the operand itself if it is a string.
fn entries(operands: &[Value], position: usize) -> Vec<Entry<'_>> {
    match any(operands, position) {
        value @ (Value::String(_) | Value::Bytes(_)) => vec![(value.clone(), value)],
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

/// Returns the string to compare in an element: itself, or the first item of an array.
fn element_of(element: &Value, position: usize) -> Result<&Value, Failure> {
    let inner = match element {
        Value::Array(items) => items.first(),
        other => Some(other).filter(|other| other.is_string()),
    };
    match inner {
        Some(inner) => Ok(inner),
        None => refuse(format!(
            "operand {position}: element must be string or non-empty array"
        )),
    }
}

fn text_of(element: &Value, position: usize) -> Result<&str, Failure> {
    match element {
        Value::String(text) => Ok(text),
        Value::Bytes(_) => Err(not_utf8(position)),
        other => Err(crate::builtins::operand::mistyped(1, "string", other)),
    }
}
