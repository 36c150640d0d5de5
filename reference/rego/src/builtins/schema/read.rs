//! Reads keywords of expected types.

use std::collections::BTreeSet;

use super::fault::{Fault, invalid_schema, mistyped};
use crate::Value;
use crate::value::{Array, Number, Object};

/// Maximum exponent of a number.
const MAX_EXPONENT: u64 = 1_000_000;

/// Reads a string keyword.
pub(super) fn text<'v>(members: &'v Object, keyword: &str) -> Result<Option<&'v str>, Fault> {
    match members.get(keyword) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => mistyped("string", keyword),
    }
}

/// Reads an array keyword.
pub(super) fn array<'v>(members: &'v Object, keyword: &str) -> Result<Option<&'v Array>, Fault> {
    match members.get(keyword) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(_) => invalid_schema(format!("{keyword} must be of an array")),
    }
}

/// Reads a keyword whose value is a non-negative integer.
pub(super) fn count(members: &Object, keyword: &str) -> Result<Option<usize>, Fault> {
    let count = match members.get(keyword) {
        None => return Ok(None),
        Some(Value::Number(number)) => number.as_i64(),
        Some(_) => None,
    };
    match count.map(usize::try_from) {
        None => invalid_schema(format!("{keyword} must be of an integer")),
        Some(Err(_)) => invalid_schema(format!("{keyword} must be greater than or equal to 0")),
        Some(Ok(count)) => Ok(Some(count)),
    }
}

/// Returns a value as a number, unless its exponent is too large.
pub(super) fn number(value: &Value) -> Option<&Number> {
    match value {
        Value::Number(number) if is_moderate(number) => Some(number),
        _ => None,
    }
}

fn is_moderate(number: &Number) -> bool {
    if number.small().is_some() {
        return true;
    }
    let text = number.text();
    let exponent = text.split_once(['e', 'E']).map_or("0", |(_, text)| text);
    let size = exponent.trim_start_matches(['+', '-']);
    size.parse::<u64>().is_ok_and(|size| size <= MAX_EXPONENT)
}

/// Returns the distinct strings of an array.
pub(super) fn distinct_texts(
    items: &Array,
    keyword: &str,
) -> Result<Vec<crate::value::Text>, Fault> {
    let (mut texts, mut seen) = (Vec::new(), BTreeSet::new());
    for item in items.iter() {
        let Value::String(text) = item else {
            return mistyped("string", keyword);
        };
        if !seen.insert(text) {
            return invalid_schema(format!("{keyword} items must be unique"));
        }
        texts.push(text.clone());
    }
    Ok(texts)
}
