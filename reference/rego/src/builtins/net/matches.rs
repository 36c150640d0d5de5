//! `net.cidr_contains_matches`: pairs of networks and what they contain.

use super::network;
use super::ranges::has;
use crate::Value;
use crate::builtins::operand::{answer, any, not_utf8, refuse, text};
use crate::builtins::{Call, Failure};
use crate::value::Set;

/// A network, address or key of the collection, and its text.
type Entry<'o> = (Value, &'o str);

pub(super) fn matches(call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let outer = entries(operands, 1)?;
    // Without a network nothing is looked at, as pairs are what is looked at.
    let inner = match outer.is_empty() {
        true => Vec::new(),
        false => entries(operands, 2)?,
    };
    let mut found = Set::new();
    for (outer_key, network) in &outer {
        if inner.is_empty() {
            break;
        }
        let network = network::parse(network)?;
        for (inner_key, address) in &inner {
            call.check()?;
            if has(&network, address)? {
                call.make(4)?;
                found.insert(Value::from(vec![outer_key.clone(), inner_key.clone()]));
            }
        }
        call.check()?;
    }
    answer(found)
}

/// What a pair names, with the text to compare: a string itself, the index in an array, the
/// member of a set, the key of an object.
fn entries(operands: &[Value], position: usize) -> Result<Vec<Entry<'_>>, Failure> {
    let entry = |key: Value, item| text_of(item, position).map(|text| (key, text));
    match any(operands, position) {
        whole @ (Value::String(_) | Value::Bytes(_)) => {
            let text = text(operands, position)?;
            Ok(vec![(whole.clone(), text)])
        }
        Value::Array(items) => (0_u64..)
            .zip(items.iter())
            .map(|(index, item)| entry(Value::from(index), item))
            .collect(),
        Value::Set(members) => members
            .iter()
            .map(|member| entry(member.clone(), member))
            .collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| entry(key.clone(), member))
            .collect(),
        _ => Ok(Vec::new()),
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
