//! Access to operands. Positions count from 1, as in the messages.

use super::Failure;
use crate::Value;
use crate::value::{Characters, Object, Text};
use std::collections::BTreeSet;

/// Returns the operand at a position; the compiler has checked that it exists.
fn at(operands: &[Value], position: usize) -> &Value {
    const MISSING: Value = Value::Null;
    let index = position.saturating_sub(1);
    operands.get(index).unwrap_or(&MISSING)
}

/// Failure of an operand of the wrong type.
pub(super) fn mistyped(position: usize, expected: &str, got: &Value) -> Failure {
    let got = got.kind();
    Failure::Type(format!(
        "operand {position} must be {expected} but got {got}"
    ))
}

/// Returns the operand, which must be a UTF-8 string: for functions that require it.
pub(super) fn text(operands: &[Value], position: usize) -> Result<&Text, Failure> {
    match at(operands, position) {
        Value::String(text) => Ok(text),
        Value::Bytes(_) => Err(not_utf8(position)),
        other => Err(mistyped(position, "string", other)),
    }
}

/// Failure of an operand that is a string, but not UTF-8.
pub(super) fn not_utf8(position: usize) -> Failure {
    Failure::Value(format!("operand {position} must be a string of UTF-8"))
}

/// Returns the bytes of the operand, which must be a string.
pub(super) fn bytes(operands: &[Value], position: usize) -> Result<&[u8], Failure> {
    let operand = at(operands, position);
    let bytes = operand.as_bytes();
    bytes.ok_or_else(|| mistyped(position, "string", operand))
}

/// Returns the characters of the operand, which must be a string.
pub(super) fn characters(operands: &[Value], position: usize) -> Result<Characters<'_>, Failure> {
    match at(operands, position) {
        Value::String(text) => Ok(Characters::from(&**text)),
        _ => bytes(operands, position).map(Characters::of),
    }
}

/// Returns the operand, which must be an object.
pub(super) fn object(operands: &[Value], position: usize) -> Result<&Object, Failure> {
    match at(operands, position) {
        Value::Object(members) => Ok(members),
        other => Err(mistyped(position, "object", other)),
    }
}

/// Returns the operand of any type.
pub(super) fn any(operands: &[Value], position: usize) -> &Value {
    at(operands, position)
}

/// Formats a set of names for messages: `{"method", "url"}`.
pub(super) fn names<'n>(names: impl IntoIterator<Item = &'n Value>) -> String {
    let sorted: BTreeSet<&Value> = names.into_iter().collect();
    let sorted: Vec<String> = sorted.iter().map(ToString::to_string).collect();
    format!("{{{}}}", sorted.join(", "))
}

/// Returns a value as a function's result.
pub(super) fn answer(value: impl Into<Value>) -> Result<Option<Value>, Failure> {
    Ok(Some(value.into()))
}

/// Fails because of an operand's value.
pub(super) fn refuse<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Value(message.into()))
}
