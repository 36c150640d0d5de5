//! What functions ask of their operands. Positions count from 1, as in the messages.

use super::Failure;
use crate::Value;
use crate::value::{Object, Text};
use std::collections::BTreeSet;

/// The operand at a position; the compiler has made sure that there is one.
fn at(operands: &[Value], position: usize) -> &Value {
    const MISSING: Value = Value::Null;
    let index = position.saturating_sub(1);
    operands.get(index).unwrap_or(&MISSING)
}

/// The failure of an operand of the wrong type.
pub(super) fn mistyped(position: usize, expected: &str, got: &Value) -> Failure {
    let got = got.kind();
    Failure::Type(format!(
        "operand {position} must be {expected} but got {got}"
    ))
}

/// The operand, a string.
pub(super) fn text(operands: &[Value], position: usize) -> Result<&Text, Failure> {
    match at(operands, position) {
        Value::String(text) => Ok(text),
        other => Err(mistyped(position, "string", other)),
    }
}

/// The operand, an object.
pub(super) fn object(operands: &[Value], position: usize) -> Result<&Object, Failure> {
    match at(operands, position) {
        Value::Object(members) => Ok(members),
        other => Err(mistyped(position, "object", other)),
    }
}

/// The operand, whatever it is.
pub(super) fn any(operands: &[Value], position: usize) -> &Value {
    at(operands, position)
}

/// A set of names, as messages write it: `{"method", "url"}`.
pub(super) fn names<'n>(names: impl IntoIterator<Item = &'n Value>) -> String {
    let sorted: BTreeSet<&Value> = names.into_iter().collect();
    let sorted: Vec<String> = sorted.iter().map(ToString::to_string).collect();
    format!("{{{}}}", sorted.join(", "))
}

/// A function's success: a value.
pub(super) fn answer(value: impl Into<Value>) -> Result<Option<Value>, Failure> {
    Ok(Some(value.into()))
}

/// A failure of the operands' values.
pub(super) fn refuse<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Value(message.into()))
}
