//! Arithmetic on numbers; `minus` is also the difference of sets.

use super::expected::{CallResult, mistyped_of, number};
use super::operand::{answer, any, mistyped};
use super::sets::difference;
use super::{Call, Cost, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("abs", Cost::Linear, |_, operands| {
        answer(number(operands, 1)?.absolute()?)
    }),
    ("ceil", Cost::Linear, |_, operands| {
        answer(number(operands, 1)?.ceiling()?)
    }),
    ("div", Cost::Linear, |_, operands| {
        answer(number(operands, 1)?.over(number(operands, 2)?)?)
    }),
    ("floor", Cost::Linear, |_, operands| {
        answer(number(operands, 1)?.floored()?)
    }),
    ("minus", Cost::Linear, minus),
    ("mul", Cost::Linear, |_, operands| {
        answer(number(operands, 1)?.times(number(operands, 2)?)?)
    }),
    ("plus", Cost::Linear, |_, operands| {
        answer(number(operands, 1)?.plus(number(operands, 2)?)?)
    }),
    ("rem", Cost::Linear, |_, operands| {
        answer(number(operands, 1)?.modulo(number(operands, 2)?)?)
    }),
    ("round", Cost::Linear, |_, operands| {
        answer(number(operands, 1)?.rounded()?)
    }),
];

fn minus(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    match (any(operands, 1), any(operands, 2)) {
        (Value::Number(left), Value::Number(right)) => answer(left.minus(right)?),
        (Value::Set(left), Value::Set(right)) => answer(difference(left, right)),
        (Value::Number(_), other) => Err(mistyped(2, "number", other)),
        (Value::Set(_), other @ Value::Number(_)) => Err(mistyped(2, "set", other)),
        (Value::Set(_), other) => Err(mistyped(2, "number", other)),
        (other, _) => mistyped_of(1, &["number", "set"], other),
    }
}
