//! `object.subset`

use super::expected::{CallResult, mismatch};
use super::operand::{answer, any};
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::value::{Array, Object};

pub(super) const BUILTINS: Group = &[("object.subset", Cost::Stepping, subset)];

fn subset(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (superset, candidate) = (any(operands, 1), any(operands, 2));
    answer(match (superset, candidate) {
        (Value::Array(items), Value::Set(members)) => {
            // The empty set is a subset of every array except the empty one, as in OPA.
            !items.is_empty() && members.iter().all(|member| items.contains(member))
        }
        _ if superset.kind() != candidate.kind() || !is_composite(superset) => {
            return mismatch(
                "both arguments object.subset must be of the same type or array and set",
            );
        }
        _ => within(call, superset, candidate)?,
    })
}

fn is_composite(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_) | Value::Set(_))
}

fn within(call: &Call<'_>, superset: &Value, candidate: &Value) -> Result<bool, Failure> {
    Ok(match (superset, candidate) {
        (Value::Object(superset), Value::Object(candidate)) => {
            object_within(call, superset, candidate)?
        }
        (Value::Set(superset), Value::Set(candidate)) => candidate.is_subset(superset),
        (Value::Array(superset), Value::Array(candidate)) => run_within(call, superset, candidate)?,
        _ => superset == candidate,
    })
}

fn object_within(call: &Call<'_>, superset: &Object, candidate: &Object) -> Result<bool, Failure> {
    for (key, value) in candidate {
        let Some(found) = superset.get_value(key) else {
            return Ok(false);
        };
        if found != value && !within(call, found, value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the items of `candidate` occur consecutively in `superset`.
fn run_within(call: &Call<'_>, superset: &Array, candidate: &Array) -> Result<bool, Failure> {
    // Failure function of the Knuth-Morris-Pratt search, which is linear for any input.
    let mut back = vec![0usize; candidate.len()];
    let mut matched = 0;
    for at in 1..candidate.len() {
        matched = advance(candidate, &back, matched, candidate.get(at));
        if let Some(slot) = back.get_mut(at) {
            *slot = matched;
        }
    }
    matched = 0;
    for item in superset.iter() {
        call.check()?;
        if matched == candidate.len() {
            break;
        }
        matched = advance(candidate, &back, matched, Some(item));
    }
    Ok(matched == candidate.len())
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
