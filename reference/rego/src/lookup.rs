//! Lookup of items of long lists by the value of a member, with an index once it pays to build one.

use crate::Value;
use crate::meter::{AbortReason, Meter};
use crate::value::{Entry, Known};

/// Maximum length in bytes of a string that an inline evaluation looks up.
const MAX_INLINE_KEY: usize = 256;

/// Returns the positions of those items of an array or object whose member at a path can be equal
/// to a value; `None` if they are not known.
///
/// # Errors
/// If the evaluation has to end.
pub(crate) fn places<'v, 'k>(
    meter: &Meter,
    list: &'v Value,
    path: impl Iterator<Item = &'k Value> + Clone,
    value: &Value,
) -> Result<Option<&'v [Entry]>, AbortReason> {
    let Some(lookups) = list.lookups() else {
        return Ok(None);
    };
    let is_inline = meter.is_inline();
    if is_inline && !is_short(value) {
        return Ok(None);
    }
    let searches_before_index = || (!is_inline).then(|| list.searches_before_index());
    match lookups.known(path.clone(), value, searches_before_index) {
        Known::At(places) => return Ok(Some(places)),
        Known::Nothing => return Ok(None),
        Known::Unindexed(lookup) => lookup.make(list, step, || meter.tick())?,
    }
    Ok(match lookups.known(path, value, || None) {
        Known::At(places) => Some(places),
        Known::Unindexed(_) | Known::Nothing => None,
    })
}

/// Returns the item of an array, or value of an object, at a position.
pub(crate) fn item(list: &Value, place: usize) -> Option<&Value> {
    match list {
        Value::Array(items) => items.get(place),
        Value::Object(members) => members.nth(place).map(|(_, value)| value),
        _ => None,
    }
}

/// Returns the member with a name; in base documents, an array item can be named by its index.
fn step<'v>(value: &'v Value, name: &Value) -> Option<&'v Value> {
    match value {
        Value::Array(items) => items.get(name.as_str()?.parse().ok()?),
        Value::Object(members) => members.get_value(name),
        Value::Set(members) => members.get(name),
        _ => None,
    }
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => number.digits() == Some(0),
        Value::String(text) => text.len() <= MAX_INLINE_KEY,
        Value::Bytes(bytes) => bytes.as_bytes().len() <= MAX_INLINE_KEY,
        Value::Array(_) | Value::Object(_) | Value::Set(_) => false,
    }
}
