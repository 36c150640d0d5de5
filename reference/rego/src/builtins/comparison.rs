//! `equal`, `neq`, `lt`, `lte`, `gt` and `gte`.

use std::cmp::Ordering;

use super::expected::CallResult;
use super::operand::{answer, any};
use super::{Call, Cost, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("equal", Cost::Linear, equal),
    ("gt", Cost::Linear, |_, operands| {
        answer(compare(operands).is_gt())
    }),
    ("gte", Cost::Linear, |_, operands| {
        answer(compare(operands).is_ge())
    }),
    ("lt", Cost::Linear, |_, operands| {
        answer(compare(operands).is_lt())
    }),
    ("lte", Cost::Linear, |_, operands| {
        answer(compare(operands).is_le())
    }),
    ("neq", Cost::Linear, |_, operands| {
        answer(any(operands, 1) != any(operands, 2))
    }),
];

fn equal(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    answer(any(operands, 1) == any(operands, 2))
}

fn compare(operands: &[Value]) -> Ordering {
    any(operands, 1).cmp(any(operands, 2))
}
