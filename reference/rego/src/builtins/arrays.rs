//! `array.*`

use super::expected::{CallResult, array, integer};
use super::operand::{answer, any};
use super::{Call, Cost, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("array.concat", Cost::Linear, concat),
    ("array.flatten", Cost::Linear, flatten),
    ("array.reverse", Cost::Linear, reverse),
    ("array.slice", Cost::Linear, slice),
];

fn concat(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (left, right) = (array(operands, 1)?, array(operands, 2)?);
    if left.is_empty() {
        return answer(any(operands, 2).clone());
    }
    if right.is_empty() {
        return answer(any(operands, 1).clone());
    }
    call.estimate(left.len().saturating_add(right.len()))?;
    answer(left.iter().chain(right).cloned().collect::<Vec<_>>())
}

fn flatten(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let items = array(operands, 1)?;
    let mut flat = Vec::with_capacity(items.len());
    for item in items.iter() {
        match item {
            Value::Array(nested) => flat.extend(nested.iter().cloned()),
            other => flat.push(other.clone()),
        }
    }
    answer(flat)
}

fn reverse(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let items = array(operands, 1)?;
    let mut items = items.to_vec();
    items.reverse();
    answer(items)
}

fn slice(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let items = array(operands, 1)?;
    let (start, stop) = (integer(operands, 2)?, integer(operands, 3)?);
    let stop = usize::try_from(stop).unwrap_or(0).min(items.len());
    let start = usize::try_from(start).unwrap_or(0).min(stop);
    if start == 0 && stop == items.len() {
        return answer(items.clone());
    }
    let items = items.iter().skip(start).take(stop - start);
    answer(items.cloned().collect::<Vec<_>>())
}
