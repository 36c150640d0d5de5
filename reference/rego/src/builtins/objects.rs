//! `object.*`, except `object.subset`.

use super::aggregates::index;
use super::expected::{CallResult, Items, array, mistyped_element, mistyped_of};
use super::operand::{answer, any, object};
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::value::{Object, Set};
use std::collections::BTreeMap;

pub(super) const BUILTINS: Group = &[
    ("object.filter", Cost::Linear, filter),
    ("object.get", Cost::LinearBut(0b101), get),
    ("object.keys", Cost::Linear, keys),
    ("object.remove", Cost::Linear, remove),
    ("object.union", Cost::Linear, union),
    ("object.union_n", Cost::Stepping, union_n),
];

fn get(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let members = object(operands, 1)?;
    let found = match any(operands, 2) {
        Value::Array(path) => path
            .iter()
            .try_fold(any(operands, 1), |at, step| member(at, step)),
        key => members.get_value(key),
    };
    answer(found.unwrap_or_else(|| any(operands, 3)).clone())
}

/// Returns the value under a key of an object, array or set.
fn member<'v>(value: &'v Value, key: &Value) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get_value(key),
        Value::Array(items) => items.get(index(key)?),
        Value::Set(members) => members.get(key),
        _ => None,
    }
}

fn keys(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    answer(object(operands, 1)?.keys().cloned().collect::<Set>())
}

/// Returns the keys that an operand names: its items, or the keys of an object.
fn named(operands: &[Value], position: usize) -> Result<Set, Failure> {
    let value = any(operands, position);
    match (Items::of(value), value) {
        (Some(items), _) => Ok(items.cloned().collect()),
        (None, Value::Object(members)) => Ok(members.keys().cloned().collect()),
        (None, other) => mistyped_of(position, &["object", "set", "array"], other),
    }
}

fn remove(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let members = object(operands, 1)?;
    let names = named(operands, 2)?;
    let retained = members.iter().filter(|(key, _)| !names.contains(key));
    answer(
        retained
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Object>(),
    )
}

fn filter(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let members = object(operands, 1)?;
    let names = named(operands, 2)?;
    let selected = names.iter().filter_map(|name| members.get_member(name));
    answer(
        selected
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Object>(),
    )
}

fn union(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (left, right) = (object(operands, 1)?, object(operands, 2)?);
    call.estimate(left.len().saturating_add(right.len()))?;
    let (whole_left, whole_right) = (any(operands, 1), any(operands, 2));
    answer(merged(call, (whole_left, left), (whole_right, right))?)
}

/// Merges two objects recursively; the second's member wins unless both are objects.
fn merged(
    call: &Call<'_>,
    (left, ours): (&Value, &Object),
    (right, theirs): (&Value, &Object),
) -> Result<Value, Failure> {
    if ours.is_empty() {
        return Ok(right.clone());
    }
    if theirs.is_empty() {
        return Ok(left.clone());
    }
    call.make(2 * theirs.len())?;
    let mut all = ours.clone();
    for (key, value) in theirs {
        let value = match (all.get_value(key), value) {
            (Some(old @ Value::Object(ours)), Value::Object(theirs)) => {
                merged(call, (old, ours), (value, theirs))?
            }
            _ => value.clone(),
        };
        all.insert(key.clone(), value);
    }
    Ok(Value::from(all))
}

fn union_n(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let objects = array(operands, 1)?;
    let value = any(operands, 1);
    let mut all = Union::default();
    for item in objects.iter() {
        call.check()?;
        match item {
            Value::Object(members) => all.merge(call, members)?,
            other => return Err(mistyped_element(1, value, other, "object")),
        }
    }
    answer(all.into_value())
}

/// Union of objects under construction, modified in place even if the operands are shared.
#[derive(Default)]
struct Union<'v>(BTreeMap<&'v Value, MergedValue<'v>>);

enum MergedValue<'v> {
    Whole(&'v Value),
    Union(Union<'v>),
}

impl<'v> Union<'v> {
    fn merge(&mut self, call: &Call<'_>, members: &'v Object) -> Result<(), Failure> {
        for (key, value) in members {
            call.make(2)?;
            match (self.0.get_mut(key), value) {
                (Some(MergedValue::Union(union)), Value::Object(theirs)) => {
                    union.merge(call, theirs)?
                }
                (Some(part @ MergedValue::Whole(Value::Object(_))), Value::Object(theirs)) => {
                    let mut union = Union::default();
                    if let MergedValue::Whole(Value::Object(ours)) = part {
                        union.merge(call, ours)?;
                    }
                    union.merge(call, theirs)?;
                    *part = MergedValue::Union(union);
                }
                _ => {
                    self.0.insert(key, MergedValue::Whole(value));
                }
            }
        }
        Ok(())
    }

    fn into_value(self) -> Value {
        let members = self.0.into_iter().map(|(key, part)| match part {
            MergedValue::Whole(value) => (key.clone(), value.clone()),
            MergedValue::Union(union) => (key.clone(), union.into_value()),
        });
        Value::object(members)
    }
}
