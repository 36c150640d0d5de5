//! Sets: `and`, `or`, `set_diff`, `intersection` and `union`.

use std::sync::Arc;

use super::expected::{CallResult, set};
use super::operand::{answer, mistyped};
use super::{Call, Cost, Group};
use crate::Value;
use crate::value::{Set, distinct};

pub(super) const BUILTINS: Group = &[
    ("and", Cost::Linear, |_, operands| {
        answer(common(set(operands, 1)?, set(operands, 2)?))
    }),
    ("intersection", Cost::Linear, intersection),
    ("or", Cost::Linear, or),
    ("set_diff", Cost::Linear, |_, operands| {
        answer(difference(set(operands, 1)?, set(operands, 2)?))
    }),
    ("union", Cost::Linear, union),
];

/// Returns the members of the first set that are not in the second.
pub(super) fn difference(left: &Set, right: &Set) -> Set {
    left.difference(right).cloned().collect()
}

fn common(left: &Set, right: &Set) -> Set {
    // Of equal numbers in different notations, those of the smaller set are retained.
    let (few, many) = match right.len() < left.len() {
        true => (right, left),
        false => (left, right),
    };
    few.intersection(many).cloned().collect()
}

fn or(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (left, right) = (set(operands, 1)?, set(operands, 2)?);
    if left.is_empty() {
        return answer(Value::Set(Arc::clone(right)));
    }
    if right.is_empty() {
        return answer(Value::Set(Arc::clone(left)));
    }
    answer(left.union(right).cloned().collect::<Set>())
}

fn intersection(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut result: Option<Arc<Set>> = None;
    for member in set(operands, 1)?.iter() {
        let Value::Set(next) = member else {
            return Err(mistyped(1, "set", member));
        };
        result = Some(match result {
            None => Arc::clone(next),
            Some(so_far) => Arc::new(common(&so_far, next)),
        });
    }
    answer(Value::Set(result.unwrap_or_default()))
}

fn union(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut members = Vec::new();
    for member in set(operands, 1)?.iter() {
        let Value::Set(next) = member else {
            return Err(mistyped(1, "set", member));
        };
        members.extend(next.iter().cloned());
    }
    answer(distinct(members))
}
