//! Checked access to operands of expected types. Positions count from 1, as in the messages.

use std::sync::Arc;

use num_bigint::BigInt;

use super::Failure;
use super::operand::{any as at, mistyped};
use crate::Value;
use crate::value::{ArithmeticError, Array, ArrayIter, Number, Set};

/// Result of a function: a value, or undefined.
pub(super) type CallResult = Result<Option<Value>, Failure>;

/// Type failure with a custom message.
pub(super) fn mismatch<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Type(message.into()))
}

/// Fails because the operand has none of several expected types.
pub(super) fn mistyped_of<T>(
    position: usize,
    expected: &[&str],
    got: &Value,
) -> Result<T, Failure> {
    let expected = expected.join(", ");
    Err(mistyped(position, &format!("one of {{{expected}}}"), got))
}

/// Failure of an operand that contains a value of the wrong type.
pub(super) fn mistyped_element(
    position: usize,
    collection: &Value,
    element: &Value,
    expected: &str,
) -> Failure {
    let (collection, element) = (collection.kind(), element.kind());
    Failure::Type(format!(
        "operand {position} must be {collection} of {expected}s but got {collection} containing {element}"
    ))
}

/// Returns the operand, which must be an array.
pub(super) fn array(operands: &[Value], position: usize) -> Result<&Array, Failure> {
    match at(operands, position) {
        Value::Array(items) => Ok(items),
        other => Err(mistyped(position, "array", other)),
    }
}

/// Returns the operand, which must be a set.
pub(super) fn set(operands: &[Value], position: usize) -> Result<&Arc<Set>, Failure> {
    match at(operands, position) {
        Value::Set(members) => Ok(members),
        other => Err(mistyped(position, "set", other)),
    }
}

/// Returns the operand, which must be a number.
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

/// Returns the operand, which must be a number with an integer value that fits `i64`, possibly
/// written with zeros after the decimal point.
pub(super) fn integer(operands: &[Value], position: usize) -> Result<i64, Failure> {
    let number = number(operands, position)?;
    number.as_whole().ok_or_else(|| fractional(position))
}

/// Returns the operand, which must be an integer of any size.
pub(super) fn big_integer(operands: &[Value], position: usize) -> Result<BigInt, Failure> {
    match at(operands, position) {
        Value::Number(number) => number.to_integer()?.ok_or_else(|| fractional(position)),
        other => Err(mistyped(position, "integer", other)),
    }
}

/// Iterator over the items of an array or set.
#[derive(Clone)]
pub(super) enum Items<'v> {
    Array(ArrayIter<'v>),
    Set(std::collections::btree_set::Iter<'v, Value>),
}

impl<'v> Items<'v> {
    /// Returns the items, if the value is an array or set.
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

/// Returns the items of the operand, which must be an array or set. Messages list `expected` in the
/// given order.
pub(super) fn items<'v>(
    operands: &'v [Value],
    position: usize,
    expected: &[&str],
) -> Result<Items<'v>, Failure> {
    let value = at(operands, position);
    Items::of(value).map_or_else(|| mistyped_of(position, expected, value), Ok)
}

/// Returns the strings of the operand, which must be an array or set of strings.
pub(super) fn strings<'v>(
    operands: &'v [Value],
    position: usize,
    expected: &[&str],
) -> Result<Vec<&'v [u8]>, Failure> {
    let value = at(operands, position);
    items(operands, position, expected)?
        .map(|item| {
            let bytes = item.as_bytes();
            bytes.ok_or_else(|| mistyped_element(position, value, item, "string"))
        })
        .collect()
}

impl From<ArithmeticError> for Failure {
    fn from(error: ArithmeticError) -> Self {
        Self::Value(error.to_string())
    }
}
