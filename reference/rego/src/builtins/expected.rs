//! Operands of the types that a function expects. Positions count from 1, as in the messages.

use std::sync::Arc;

use num_bigint::BigInt;

use super::Failure;
use super::operand::{any as at, mistyped};
use crate::Value;
use crate::value::{ArithmeticError, Array, ArrayIter, Number, Set};

/// What a function answers: a value, or undefined.
pub(super) type CallResult = Result<Option<Value>, Failure>;

/// A failure of the operands' types that has its own words.
pub(super) fn mismatch<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Type(message.into()))
}

/// The failure of an operand that has none of several types.
pub(super) fn mistyped_of<T>(
    position: usize,
    expected: &[&str],
    got: &Value,
) -> Result<T, Failure> {
    let expected = expected.join(", ");
    Err(mistyped(position, &format!("one of {{{expected}}}"), got))
}

/// The failure of an operand that contains what it may not.
pub(super) fn misfilled(position: usize, whole: &Value, part: &Value, expected: &str) -> Failure {
    let (whole, part) = (whole.kind(), part.kind());
    Failure::Type(format!(
        "operand {position} must be {whole} of {expected}s but got {whole} containing {part}"
    ))
}

/// The operand, an array.
pub(super) fn array(operands: &[Value], position: usize) -> Result<&Array, Failure> {
    match at(operands, position) {
        Value::Array(items) => Ok(items),
        other => Err(mistyped(position, "array", other)),
    }
}

/// The operand, a set.
pub(super) fn set(operands: &[Value], position: usize) -> Result<&Arc<Set>, Failure> {
    match at(operands, position) {
        Value::Set(members) => Ok(members),
        other => Err(mistyped(position, "set", other)),
    }
}

/// The operand, a number.
pub(super) fn number(operands: &[Value], position: usize) -> Result<&Number, Failure> {
    match at(operands, position) {
        Value::Number(number) => Ok(number),
        other => Err(mistyped(position, "number", other)),
    }
}

fn fractional(position: usize) -> Failure {
    Failure::Type(format!(
        "operand {position} must be integer number but got floating-point number"
    ))
}

/// The operand, a number that is written as an integer of usual size, perhaps with zeros behind
/// a point.
pub(super) fn integer(operands: &[Value], position: usize) -> Result<i64, Failure> {
    let number = number(operands, position)?;
    number.as_whole().ok_or_else(|| fractional(position))
}

/// The operand, an integer of any size.
pub(super) fn big_integer(operands: &[Value], position: usize) -> Result<BigInt, Failure> {
    match at(operands, position) {
        Value::Number(number) => number.to_integer()?.ok_or_else(|| fractional(position)),
        other => Err(mistyped(position, "integer", other)),
    }
}

/// The items of an array or set.
#[derive(Clone)]
pub(super) enum Items<'v> {
    Array(ArrayIter<'v>),
    Set(std::collections::btree_set::Iter<'v, Value>),
}

impl<'v> Items<'v> {
    /// The items, if the value is an array or set.
    pub(super) fn of(value: &'v Value) -> Option<Self> {
        match value {
            Value::Array(items) => Some(Self::Array(items.iter())),
            Value::Set(members) => Some(Self::Set(members.iter())),
            _ => None,
        }
    }
}

impl<'v> Iterator for Items<'v> {
    type Item = &'v Value;

    fn next(&mut self) -> Option<&'v Value> {
        match self {
            Self::Array(items) => items.next(),
            Self::Set(members) => members.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Array(items) => items.size_hint(),
            Self::Set(members) => members.size_hint(),
        }
    }
}

impl ExactSizeIterator for Items<'_> {}

/// The items of the operand, an array or set, named in the order that messages want.
pub(super) fn items<'v>(
    operands: &'v [Value],
    position: usize,
    expected: &[&str],
) -> Result<Items<'v>, Failure> {
    let value = at(operands, position);
    Items::of(value).map_or_else(|| mistyped_of(position, expected, value), Ok)
}

/// The strings of the operand, an array or set of them.
pub(super) fn strings<'v>(
    operands: &'v [Value],
    position: usize,
    expected: &[&str],
) -> Result<Vec<&'v [u8]>, Failure> {
    let whole = at(operands, position);
    items(operands, position, expected)?
        .map(|item| {
            let bytes = item.as_bytes();
            bytes.ok_or_else(|| misfilled(position, whole, item, "string"))
        })
        .collect()
}

impl From<ArithmeticError> for Failure {
    fn from(error: ArithmeticError) -> Self {
        Self::Value(error.to_string())
    }
}
