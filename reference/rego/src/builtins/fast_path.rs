//! Fast paths of functions on small operands, without a call. For other operands, the function
//! itself is called.

use std::cmp::Ordering;

use crate::Value;
use crate::value::Number;

/// Fast path of a function: computes the result if the operands are small.
pub(crate) type FastPath = fn(&Value, &Value) -> Option<SmallResult>;

/// A small result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SmallResult {
    Bool(bool),
    Integer(i64),
}

impl From<SmallResult> for Value {
    fn from(small: SmallResult) -> Self {
        match small {
            SmallResult::Bool(value) => Self::Bool(value),
            SmallResult::Integer(value) => Self::Number(Number::from(value)),
        }
    }
}

/// Maximum length in bytes of small strings. Integers are small if they fit a machine word.
const SHORT: usize = 128;

/// Maximum number of items of an array that a fast path searches.
const FEW: usize = 16;

/// Returns the fast path of a function, if it has one.
pub(crate) fn quick(name: &str) -> Option<FastPath> {
    let quick: FastPath = match name {
        "contains" => |haystack, needle| {
            text(haystack, needle, |haystack, needle| {
                haystack.contains(needle)
            })
        },
        "endswith" => |haystack, needle| {
            text(haystack, needle, |haystack, needle| {
                haystack.ends_with(needle)
            })
        },
        "equal" => |left, right| order(left, right, Ordering::is_eq),
        "gt" => |left, right| order(left, right, Ordering::is_gt),
        "gte" => |left, right| order(left, right, Ordering::is_ge),
        "internal.member_2" => member,
        "lt" => |left, right| order(left, right, Ordering::is_lt),
        "lte" => |left, right| order(left, right, Ordering::is_le),
        "minus" => |left, right| integer(left, right, i64::checked_sub),
        "mul" => |left, right| integer(left, right, i64::checked_mul),
        "neq" => |left, right| order(left, right, Ordering::is_ne),
        "plus" => |left, right| integer(left, right, i64::checked_add),
        "rem" => |left, right| integer(left, right, i64::checked_rem),
        "startswith" => |haystack, needle| {
            text(haystack, needle, |haystack, needle| {
                haystack.starts_with(needle)
            })
        },
        _ => return None,
    };
    Some(quick)
}

/// Whether a small value is in a set or in an array of few items.
fn member(element: &Value, collection: &Value) -> Option<SmallResult> {
    let is_small = match element {
        Value::String(text) => text.len() <= SHORT,
        Value::Number(number) => number.small().is_some(),
        _ => !element.is_composite(),
    };
    match collection {
        Value::Set(members) if is_small => Some(SmallResult::Bool(members.contains(element))),
        Value::Array(items) if is_small && items.len() <= FEW => {
            Some(SmallResult::Bool(items.contains(element)))
        }
        _ => None,
    }
}

#[inline]
fn integer(
    left: &Value,
    right: &Value,
    compute: impl FnOnce(i64, i64) -> Option<i64>,
) -> Option<SmallResult> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            compute(left.small()?, right.small()?).map(SmallResult::Integer)
        }
        _ => None,
    }
}

#[inline]
fn order(left: &Value, right: &Value, holds: impl FnOnce(Ordering) -> bool) -> Option<SmallResult> {
    let order = match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.small()?.cmp(&right.small()?),
        (Value::String(left), Value::String(right)) if left.len().max(right.len()) <= SHORT => {
            left.as_str().cmp(right.as_str())
        }
        _ => return None,
    };
    Some(SmallResult::Bool(holds(order)))
}

#[inline]
fn text(
    left: &Value,
    right: &Value,
    holds: impl FnOnce(&str, &str) -> bool,
) -> Option<SmallResult> {
    match (left, right) {
        (Value::String(left), Value::String(right)) if left.len().max(right.len()) <= SHORT => {
            Some(SmallResult::Bool(holds(left, right)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::super::{Call, function};
    use super::quick;
    use crate::Value;
    use crate::builtins::tests::constant_calls::session;
    use crate::meter::Meter;
    use crate::syntax::Location;
    use crate::value::from_json;

    const NAMES: [&str; 14] = [
        "contains",
        "endswith",
        "equal",
        "gt",
        "gte",
        "internal.member_2",
        "lt",
        "lte",
        "minus",
        "mul",
        "neq",
        "plus",
        "rem",
        "startswith",
    ];

    #[test]
    fn small_operands_give_what_the_function_gives() -> Result<(), Box<dyn std::error::Error>> {
        let values = r#"[0, 1, -1, 7, 1.0, 1e2, 9223372036854775807, -9223372036854775808, "", "a",
            "ab", "b", "\u00fcber", null, true, [1], {"a": 1},
            [7, "b", 1.0, [1], null]]"#;
        let values = from_json(values.as_bytes())?;
        let mut values = values.as_array().ok_or("no list")?.to_vec();
        let members: BTreeSet<Value> = values.iter().take(12).cloned().collect();
        values.push(Value::Set(Arc::new(members)));
        let location = Location {
            file: "".into(),
            row: 1,
            col: 1,
            offset: 0,
            length: 0,
        };
        let mut session = session();
        let mut computed = 0;
        for name in NAMES {
            let quick = quick(name).ok_or(name)?;
            let (_, function) = function(name).ok_or(name)?;
            for left in &values {
                for right in &values {
                    let Some(result) = quick(left, right) else {
                        continue;
                    };
                    computed += 1;
                    let mut call = Call {
                        location: &location,
                        session: &mut session,
                        meter: &Meter::default(),
                        outside: Default::default(),
                    };
                    let expected = function(&mut call, &[left.clone(), right.clone()]);
                    assert_eq!(expected, Ok(Some(result.into())), "{name}({left}, {right})");
                }
            }
        }
        assert!(computed > 500, "{computed}");
        Ok(())
    }
}
