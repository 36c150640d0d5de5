//! Parts of values in templates: items, slices and lengths.

use std::ops::Range;

use super::error::Wrong;
use super::item::{Item, SpareCapacity, TemplateValue};
use crate::Value;
use crate::builtins::Call;
use crate::value::Object;

/// Returns the length of a value.
pub(super) fn length(item: &Item) -> Result<Item, Wrong> {
    let length = match &item.content {
        TemplateValue::Absent if item.boxed => return Err(Wrong::message("len of nil pointer")),
        TemplateValue::Absent => {
            return Err(Wrong::message(
                "reflect: call of reflect.Value.Type on zero Value",
            ));
        }
        TemplateValue::Text(text, _) => text.as_bytes().unwrap_or_default().len(),
        TemplateValue::List(items, _) => items.len(),
        TemplateValue::Map(members) => members.len(),
        _ => return Err(Wrong::Message(format!("len of type {}", item.kind()))),
    };
    Ok(Item::integer(i64::try_from(length).unwrap_or(i64::MAX)))
}

/// Indexes a value with successive keys.
pub(super) fn index(call: &Call<'_>, item: &Item, keys: &[Item]) -> Result<Item, Wrong> {
    if matches!(item.content, TemplateValue::Absent) {
        return Err(Wrong::message("index of untyped nil"));
    }
    let mut item = item.clone().unboxed();
    for key in keys {
        call.check()?;
        item = match &item.content {
            TemplateValue::Absent => return Err(Wrong::message("index of nil pointer")),
            TemplateValue::List(items, _) => match items.get(position(key, items.len())?) {
                Some(value) => Item::of(value),
                None => return Err(Wrong::message("reflect: slice index out of range")),
            },
            TemplateValue::Text(text, _) => {
                let text = text.as_bytes().unwrap_or_default();
                match text.get(position(key, text.len())?) {
                    Some(byte) => Item::from_value(TemplateValue::Integer((*byte).into(), "uint8")),
                    None => return Err(Wrong::message("reflect: string index out of range")),
                }
            }
            TemplateValue::Map(members) => member(members, key)?,
            _ => {
                let kind = item.kind();
                return Err(Wrong::Message(format!("can't index item of type {kind}")));
            }
        };
    }
    Ok(item)
}

fn member(members: &Object, key: &Item) -> Result<Item, Wrong> {
    match &key.content {
        TemplateValue::Absent => Err(Wrong::message("value is nil; should be of type string")),
        TemplateValue::Text(text, "string") => {
            let value = members.get_value(text);
            Ok(Item::of(value.unwrap_or(&Value::Null)))
        }
        _ => Err(Wrong::Message(format!(
            "value has type {}; should be string",
            key.kind()
        ))),
    }
}

/// Returns an item as an index of at most `maximum`.
fn position(item: &Item, maximum: usize) -> Result<usize, Wrong> {
    let integer = match &item.content {
        TemplateValue::Integer(integer, _) => *integer,
        TemplateValue::Absent => return Err(Wrong::message("cannot index slice/array with nil")),
        _ => {
            let kind = item.kind();
            return Err(Wrong::Message(format!(
                "cannot index slice/array with type {kind}"
            )));
        }
    };
    let position = usize::try_from(integer).ok();
    let position = position.filter(|position| *position <= maximum);
    position.ok_or_else(|| Wrong::Message(format!("index out of range: {integer}")))
}

/// Slices a string or array.
pub(super) fn slice(call: &Call<'_>, item: &Item, bounds: &[Item]) -> Result<Item, Wrong> {
    if matches!(item.content, TemplateValue::Absent) {
        return Err(Wrong::message("slice of untyped nil"));
    }
    if bounds.len() > 3 {
        let count = bounds.len();
        return Err(Wrong::Message(format!("too many slice indexes: {count}")));
    }
    let (length, places) = match &item.content {
        TemplateValue::Text(..) if bounds.len() == 3 => {
            return Err(Wrong::message("cannot 3-index slice a string"));
        }
        TemplateValue::Text(text, _) => {
            let length = text.as_bytes().unwrap_or_default().len();
            (length, length)
        }
        TemplateValue::List(items, spare) => (items.len(), items.len() + spare.len()),
        _ => {
            let kind = item.kind();
            return Err(Wrong::Message(format!("can't slice item of type {kind}")));
        }
    };
    let mut at = Vec::with_capacity(3);
    for bound in bounds {
        if bound.boxed && !bound.is_null() {
            return Err(Wrong::message(
                "cannot index slice/array with type interface {}",
            ));
        }
        at.push(position(bound, places)?);
    }
    let from = at.first().copied().unwrap_or(0);
    let to = at.get(1).copied().unwrap_or(length);
    let end = at.get(2).copied().unwrap_or(places);
    for (left, right) in [(from, to), (to, end)] {
        if left > right {
            return Err(Wrong::Message(format!(
                "invalid slice index: {left} > {right}"
            )));
        }
    }
    call.make(end - from)?;
    Ok(Item::from_value(part(&item.content, from..to, end)))
}

fn part(content: &TemplateValue, range: Range<usize>, end: usize) -> TemplateValue {
    match content {
        TemplateValue::Text(text, kind) => {
            let text = text.as_bytes().unwrap_or_default();
            TemplateValue::Text(Value::string(text.get(range).unwrap_or_default()), kind)
        }
        TemplateValue::List(items, spare) => {
            let item = |at: usize| {
                let place = at.checked_sub(items.len());
                let item = match place {
                    Some(place) => spare.items.get(place),
                    None => items.get(at),
                };
                item.cloned().unwrap_or(Value::Null)
            };
            let known = items.len() + spare.items.len();
            let rest = range.end..end.min(known).max(range.end);
            let spare = SpareCapacity {
                empty: end - rest.end,
                items: rest.map(item).collect(),
            };
            TemplateValue::List(range.map(item).collect(), spare)
        }
        other => other.clone(),
    }
}
