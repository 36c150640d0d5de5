//! Kinds of values: `is_*`, `type_name`, and the casts of old policies.

use super::expected::{CallResult, items};
use super::operand::{answer, any, mistyped};
use super::{Call, Group};
use crate::Value;
use crate::value::Set;

pub(super) const BUILTINS: Group = &[
    ("cast_array", |_, operands| {
        answer(items(operands, 1, COLLECTION)?.cloned().collect::<Vec<_>>())
    }),
    ("cast_boolean", |_, operands| same(operands, "boolean")),
    ("cast_null", |_, operands| same(operands, "null")),
    ("cast_object", |_, operands| same(operands, "object")),
    ("cast_set", |_, operands| {
        answer(items(operands, 1, COLLECTION)?.cloned().collect::<Set>())
    }),
    ("cast_string", |_, operands| same(operands, "string")),
    ("is_array", |_, operands| is(operands, "array")),
    ("is_boolean", |_, operands| is(operands, "boolean")),
    ("is_null", |_, operands| is(operands, "null")),
    ("is_number", |_, operands| is(operands, "number")),
    ("is_object", |_, operands| is(operands, "object")),
    ("is_set", |_, operands| is(operands, "set")),
    ("is_string", |_, operands| is(operands, "string")),
    ("type_name", type_name),
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
