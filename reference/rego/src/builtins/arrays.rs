//! `array.*`

use std::sync::Arc;

use super::expected::{Answer, array, integer};
use super::operand::{answer, any};
use super::{Call, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("array.concat", concat),
    ("array.flatten", flatten),
    ("array.reverse", reverse),
    ("array.slice", slice),
];

fn concat(_call: &mut Call<'_>, operands: &[Value]) -> Answer {
    let (left, right) = (array(operands, 1)?, array(operands, 2)?);
    if left.is_empty() {
        return answer(any(operands, 2).clone());
    }
    if right.is_empty() {
        return answer(any(operands, 1).clone());
    }
    answer([left.as_slice(), right.as_slice()].concat())
}

fn flatten(_call: &mut Call<'_>, operands: &[Value]) -> Answer {
    let items = array(operands, 1)?;
    let mut flat = Vec::with_capacity(items.len());
    for item in items.iter() {
        match item {
            Value::Array(nested) => flat.extend_from_slice(nested),
            other => flat.push(other.clone()),
        }
    }
    answer(flat)
}

fn reverse(_call: &mut Call<'_>, operands: &[Value]) -> Answer {
    let items = array(operands, 1)?;
    answer(items.iter().rev().cloned().collect::<Vec<_>>())
}

fn slice(_call: &mut Call<'_>, operands: &[Value]) -> Answer {
    let items = array(operands, 1)?;
    let (start, stop) = (integer(operands, 2)?, integer(operands, 3)?);
    let stop = usize::try_from(stop).unwrap_or(0).min(items.len());
    let start = usize::try_from(start).unwrap_or(0).min(stop);
    if start == 0 && stop == items.len() {
        return answer(Value::Array(Arc::clone(items)));
    }
    answer(items.get(start..stop).unwrap_or_default().to_vec())
}
