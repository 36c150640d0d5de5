//! Types of values: `is_*`, `type_name`, and the deprecated casts.

use super::expected::{CallResult, items};
use super::operand::{answer, any, mistyped};
use super::{Call, Cost, Group};
use crate::Value;
use crate::value::Set;

pub(super) const BUILTINS: Group = &[
    ("cast_array", Cost::Linear, |_, operands| {
        answer(items(operands, 1, COLLECTION)?.cloned().collect::<Vec<_>>())
    }),
    ("cast_boolean", Cost::Linear, |_, operands| {
        same(operands, "boolean")
    }),
    ("cast_null", Cost::Linear, |_, operands| {
        same(operands, "null")
    }),
    ("cast_object", Cost::Linear, |_, operands| {
        same(operands, "object")
    }),
    ("cast_set", Cost::Linear, |_, operands| {
        answer(items(operands, 1, COLLECTION)?.cloned().collect::<Set>())
    }),
    ("cast_string", Cost::Linear, |_, operands| {
        same(operands, "string")
    }),
    ("is_array", Cost::LinearBut(0b1), |_, operands| {
        is(operands, "array")
    }),
    ("is_boolean", Cost::LinearBut(0b1), |_, operands| {
        is(operands, "boolean")
    }),
    ("is_null", Cost::LinearBut(0b1), |_, operands| {
        is(operands, "null")
    }),
    ("is_number", Cost::LinearBut(0b1), |_, operands| {
        is(operands, "number")
    }),
    ("is_object", Cost::LinearBut(0b1), |_, operands| {
        is(operands, "object")
    }),
    ("is_set", Cost::LinearBut(0b1), |_, operands| {
        is(operands, "set")
    }),
    ("is_string", Cost::LinearBut(0b1), |_, operands| {
        is(operands, "string")
    }),
    ("type_name", Cost::LinearBut(0b1), type_name),
];

const COLLECTION: &[&str] = &["array", "set"];

fn is(operands: &[Value], kind: &str) -> CallResult {
    answer(any(operands, 1).kind() == kind)
}

fn same(operands: &[Value], kind: &str) -> CallResult {
    match any(operands, 1) {
        value if value.kind() == kind => answer(value.clone()),
        other => Err(mistyped(1, kind, other)),
    }
}

fn type_name(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    answer(any(operands, 1).kind())
}
