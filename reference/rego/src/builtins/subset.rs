//! `object.subset`

use super::expected::{CallResult, mismatch};
use super::operand::{answer, any};
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::value::{Array, Object};

pub(super) const BUILTINS: Group = &[("object.subset", Cost::Stepping, subset)];

fn subset(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (whole, part) = (any(operands, 1), any(operands, 2));
    answer(match (whole, part) {
        (Value::Array(items), Value::Set(members)) => {
            // The empty set is a subset of every array except the empty one, as in OPA.
            !items.is_empty() && members.iter().all(|member| items.contains(member))
        }
        _ if whole.kind() != part.kind() || !is_composite(whole) => {
            return mismatch(
                "both arguments object.subset must be of the same type or array and set",
            );
        }
        _ => within(call, whole, part)?,
    })
}

fn is_composite(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_) | Value::Set(_))
}

fn within(call: &Call<'_>, whole: &Value, part: &Value) -> Result<bool, Failure> {
    Ok(match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => object_within(call, whole, part)?,
        (Value::Set(whole), Value::Set(part)) => part.is_subset(whole),
        (Value::Array(whole), Value::Array(part)) => run_within(call, whole, part)?,
        _ => whole == part,
    })
}

fn object_within(call: &Call<'_>, whole: &Object, part: &Object) -> Result<bool, Failure> {
    for (key, value) in part {
        let Some(found) = whole.get_value(key) else {
            return Ok(false);
        };
        if found != value && !within(call, found, value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the items of `part` occur consecutively in `whole`.
fn run_within(call: &Call<'_>, whole: &Array, part: &Array) -> Result<bool, Failure> {
    // Failure function of the Knuth-Morris-Pratt search, which is linear for any input.
    let mut back = vec![0usize; part.len()];
    let mut matched = 0;
    for at in 1..part.len() {
        matched = advance(part, &back, matched, part.get(at));
        if let Some(slot) = back.get_mut(at) {
            *slot = matched;
        }
    }
    matched = 0;
    for item in whole.iter() {
        call.check()?;
        if matched == part.len() {
            break;
        }
        matched = advance(part, &back, matched, Some(item));
    }
    Ok(matched == part.len())
}

/// Returns the number of items of `part` that match after `item`, given the number before it.
fn advance(part: &Array, back: &[usize], mut matched: usize, item: Option<&Value>) -> usize {
    loop {
        if part.get(matched) == item {
            return matched + 1;
        }
        match matched.checked_sub(1).and_then(|last| back.get(last)) {
            Some(shorter) => matched = *shorter,
            None => return 0,
        }
    }
}
