//! Edits of JSON documents at pointers, whose segments may each have one `*`.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Number, Value};

/// Values by JSON pointer.
pub(in crate::faults) type ValuesByPointer = BTreeMap<String, Value>;

/// Applies a change to every value that the pointer matches.
pub(in crate::faults) fn change_at(
    value: &mut Value,
    pointer: &str,
    change: &mut dyn FnMut(&mut Value),
) {
    let Some(rest) = pointer.strip_prefix('/') else {
        return change(value);
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (segment, rest) = rest.split_at(end);
    for child in members(value, &unescape(segment)) {
        change_at(child, rest, change);
    }
}

/// Removes the values that the pointer matches, and returns the first.
pub(in crate::faults) fn take_at(value: &mut Value, pointer: &str) -> Option<Value> {
    let (parent, name) = pointer.rsplit_once('/')?;
    let name = unescape(name);
    let mut removed = None;
    let mut retain = |key: &str, value: &mut Value| {
        let is_match = matches(&name, key);
        if is_match {
            removed.get_or_insert_with(|| value.take());
        }
        !is_match
    };
    change_at(value, parent, &mut |target| match target {
        Value::Object(members) => members.retain(|key, value| retain(key, value)),
        Value::Array(items) => {
            let mut positions = 0_usize..;
            items.retain_mut(|item| {
                let position = positions.next().unwrap_or_default();
                retain(&position.to_string(), item)
            });
        }
        _ => {}
    });
    removed
}

/// Sets the values that the pointer matches; a missing member is added to its object.
pub(super) fn put_at(value: &mut Value, pointer: &str, new_value: &Value) {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        *value = new_value.clone();
        return;
    };
    let name = unescape(name);
    change_at(value, parent, &mut |target| match target {
        Value::Object(members) if !name.contains('*') => {
            members.insert(name.clone(), new_value.clone());
        }
        target => {
            for child in members(target, &name) {
                *child = new_value.clone();
            }
        }
    });
}

/// Sets the values at these pointers.
pub(super) fn put_all(value: &mut Value, values: &ValuesByPointer) {
    for (pointer, new_value) in values {
        put_at(value, pointer, new_value);
    }
}

fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Whether a segment matches the name of a member, or the position of an item.
fn matches(segment: &str, name: &str) -> bool {
    match segment.split_once('*') {
        Some((start, end)) => {
            let rest = name.strip_prefix(start);
            rest.is_some_and(|rest| rest.ends_with(end))
        }
        None => segment == name,
    }
}

/// Members or items that a segment matches.
fn members<'v>(value: &'v mut Value, segment: &str) -> Vec<&'v mut Value> {
    match value {
        Value::Object(members) => {
            let members = members.iter_mut();
            let members = members.filter(|(name, _)| matches(segment, name));
            members.map(|(_, value)| value).collect()
        }
        Value::Array(items) => {
            let items = items.iter_mut().enumerate();
            let items = items.filter(|(at, _)| matches(segment, &at.to_string()));
            items.map(|(_, item)| item).collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn push(target: &mut Value, item: &Value) {
    if let Value::Array(items) = target {
        items.push(item.clone());
    }
}

pub(super) fn reverse(target: &mut Value) {
    if let Value::Array(items) = target {
        items.reverse();
    }
}

pub(super) fn drop_first(target: &mut Value) {
    match target {
        Value::Array(items) => drop(items.drain(..items.len().min(1))),
        Value::Object(members) => {
            let name = members.keys().next().cloned();
            name.and_then(|name| members.remove(&name));
        }
        _ => {}
    }
}

pub(super) fn drop_last(target: &mut Value) {
    match target {
        Value::Array(items) => drop(items.pop()),
        Value::Object(members) => {
            let name = members.keys().next_back().cloned();
            name.and_then(|name| members.remove(&name));
        }
        _ => {}
    }
}

pub(super) fn repeat_first(target: &mut Value) {
    if let Value::Array(items) = target {
        items.extend(items.first().cloned());
    }
}

pub(super) fn empty(target: &mut Value) {
    match target {
        Value::Array(items) => items.clear(),
        Value::Object(members) => members.clear(),
        Value::String(text) => text.clear(),
        _ => {}
    }
}

pub(super) fn join(target: &mut Value, separator: &str) {
    if let Value::Array(items) = target {
        let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        *target = Value::String(texts.join(separator));
    }
}

pub(super) fn shift(target: &mut Value, by: i64) {
    if let Some(sum) = target.as_i64().and_then(|n| n.checked_add(by)) {
        *target = Value::from(sum);
    }
}

pub(super) fn wrap(target: &mut Value, into: &Value, to: &str) {
    let is_empty = match &*target {
        Value::String(text) => text.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if !is_empty {
        let mut wrapper = into.clone();
        put_at(&mut wrapper, to, target);
        *target = wrapper;
    }
}

/// Replaces the matches of a regular expression in the strings at or below a value.
pub(super) fn replace(value: &mut Value, from: &Regex, to: &str) {
    leaves(value, &|leaf| {
        if let Value::String(text) = leaf {
            *text = from.replace_all(text, to).into_owned();
        }
    });
}

/// Applies a change to every value at or below this one that is neither array nor object.
fn leaves(value: &mut Value, change: &dyn Fn(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| leaves(item, change)),
        Value::Object(members) => members.values_mut().for_each(|item| leaves(item, change)),
        leaf => change(leaf),
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::faults) enum NumberForm {
    /// Integers with a fraction: `1.0`.
    Fraction,
    /// Integers with an exponent: `1e0`.
    Exponent,
    /// Integers without their fraction: `1` for `1.0`.
    Whole,
}

impl NumberForm {
    /// Formats the number in this form; `None` if that does not change it.
    fn of(self, number: &Number) -> Option<String> {
        let text = number.to_string();
        let is_whole = number.is_i64() || number.is_u64();
        match self {
            Self::Fraction => is_whole.then(|| format!("{text}.0")),
            Self::Exponent => is_whole.then(|| format!("{text}e0")),
            Self::Whole => text.strip_suffix(".0").map(str::to_owned),
        }
    }

    /// Writes the numbers at or below a value in this form.
    pub(super) fn respell(self, value: &mut Value) {
        leaves(value, &|leaf| {
            if let Value::Number(number) = leaf
                && let Some(text) = self.of(number)
            {
                *number = Number::from_string_unchecked(text);
            }
        });
    }
}
