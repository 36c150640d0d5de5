//! Edits of JSON documents at pointers.

use serde_json::Value;

/// Applies a change to every value that the pointer matches.
pub(super) fn change_at(value: &mut Value, pointer: &str, change: &dyn Fn(&mut Value)) {
    let Some((segment, rest)) = split(pointer) else {
        return change(value);
    };
    for name in names(value, &segment) {
        if let Some(below) = member(value, &name) {
            change_at(below, rest, change);
        }
    }
}

/// Removes the values at the pointer; returns the first of them.
pub(super) fn take_at(value: &mut Value, pointer: &str) -> Option<Value> {
    let (parent, name) = pointer.rsplit_once('/')?;
    let name = unescape(name);
    let taken = std::cell::RefCell::new(None);
    change_at(value, parent, &|place| {
        // From the end, so that the positions of the remaining items stay valid.
        for name in names(place, &name).into_iter().rev() {
            let gone = match place {
                Value::Object(members) => members.remove(&name),
                Value::Array(items) => position(items.len(), &name).map(|at| items.remove(at)),
                _ => None,
            };
            *taken.borrow_mut() = gone;
        }
    });
    taken.into_inner()
}

/// Sets the values at the pointer; a missing member is added to its object.
pub(super) fn put_at(value: &mut Value, pointer: &str, wanted: &Value) {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        *value = wanted.clone();
        return;
    };
    let name = unescape(name);
    change_at(value, parent, &|place| {
        if let Value::Object(members) = place
            && !name.contains('*')
        {
            members.insert(name.clone(), wanted.clone());
            return;
        }
        for name in names(place, &name) {
            if let Some(below) = member(place, &name) {
                *below = wanted.clone();
            }
        }
    });
}

/// A change of one value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Reverse,
    DropFirst,
    DropLast,
    Repeat,
    Empty,
}

impl Step {
    pub(super) fn apply(self, place: &mut Value) {
        match (self, place) {
            (Self::Reverse, Value::Array(items)) => items.reverse(),
            (Self::DropFirst, Value::Array(items)) => {
                items.drain(..items.len().min(1));
            }
            (Self::DropLast, Value::Array(items)) => {
                items.pop();
            }
            (Self::DropFirst, Value::Object(members)) => {
                let name = members.keys().next().cloned();
                name.and_then(|name| members.remove(&name));
            }
            (Self::DropLast, Value::Object(members)) => {
                let name = members.keys().next_back().cloned();
                name.and_then(|name| members.remove(&name));
            }
            (Self::Repeat, Value::Array(items)) => items.extend(items.first().cloned()),
            (Self::Empty, Value::Array(items)) => items.clear(),
            (Self::Empty, Value::Object(members)) => members.clear(),
            (Self::Empty, Value::String(text)) => text.clear(),
            _ => {}
        }
    }
}

/// Splits off the first segment of a pointer; none at its end.
fn split(pointer: &str) -> Option<(String, &str)> {
    let rest = pointer.strip_prefix('/')?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (segment, rest) = rest.split_at_checked(end)?;
    Some((unescape(segment), rest))
}

fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Names of the members, or positions of the items, that a segment matches.
fn names(value: &Value, segment: &str) -> Vec<String> {
    let Some((start, end)) = segment.split_once('*') else {
        return vec![segment.to_owned()];
    };
    let fits = |name: &str| {
        let rest = name.strip_prefix(start);
        rest.is_some_and(|rest| rest.ends_with(end))
    };
    match value {
        Value::Array(items) => (0..items.len())
            .map(|at| at.to_string())
            .filter(|name| fits(name))
            .collect(),
        Value::Object(members) => members.keys().filter(|name| fits(name)).cloned().collect(),
        _ => Vec::new(),
    }
}

fn member<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    match value {
        Value::Object(members) => members.get_mut(name),
        Value::Array(items) => {
            let at = position(items.len(), name)?;
            items.get_mut(at)
        }
        _ => None,
    }
}

fn position(length: usize, name: &str) -> Option<usize> {
    name.parse().ok().filter(|at| *at < length)
}
