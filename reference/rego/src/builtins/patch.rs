//! `json.patch`

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;

use super::expected::{CallResult, array};
use super::operand::{any, refuse};
use super::paths::keys;
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::value::{Literal, MAX_DEPTH, Object, whole};

pub(super) const BUILTINS: Group = &[("json.patch", Cost::Stepping, patch)];

/// Maximum nesting depth of a patched document.
const MAX_NESTING: usize = 2 * MAX_DEPTH;

fn patch(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let operations = array(operands, 2)?;
    let mut document = Some(any(operands, 1).clone());
    for operation in operations.iter() {
        call.check()?;
        let Value::Object(operation) = operation else {
            return refuse(
                "must be an array of JSON-Patch objects, but at least one element is not an object",
            );
        };
        apply(call, &mut document, operation)?;
    }
    Ok(document)
}

fn attribute<'o>(operation: &'o Object, name: &str) -> Result<&'o Value, Failure> {
    match operation.get(name) {
        Some(value) => Ok(value),
        None => refuse(format!("missing required attribute '{name}'")),
    }
}

fn apply(call: &Call<'_>, document: &mut Option<Value>, operation: &Object) -> Result<(), Failure> {
    let path = attribute(operation, "path")?;
    let name = attribute(operation, "op")?;
    let Some(name) = name.as_str() else {
        let kind = name.kind();
        return refuse(format!("attribute 'op' must be a string but found: {kind}"));
    };
    let path = keys(call, path)?;
    match name {
        "add" => add(document, &path, attribute(operation, "value")?.clone()),
        "remove" => remove(document, &path),
        "replace" => {
            remove(document, &path)?;
            add(document, &path, attribute(operation, "value")?.clone())
        }
        "move" | "copy" => {
            let from = keys(call, attribute(operation, "from")?)?;
            let value = found(document.as_ref(), &from)?.clone();
            if name == "move" {
                remove(document, &from)?;
                // In an array, the path leads to another element once the value is removed.
                let parent = from.split_last().map(|(_, parent)| parent);
                let parent = parent.and_then(|parent| found(document.as_ref(), parent).ok());
                if path.len() > from.len()
                    && path.starts_with(&from)
                    && parent.is_some_and(|parent| parent.as_array().is_some())
                {
                    return refuse("a value cannot be moved into itself");
                }
            }
            // Repeatedly copying a document into itself multiplies its nodes.
            call.unfold([&value])?;
            // Only here can a document become deeper than its parts.
            if path.len() + depth(&value) > MAX_NESTING {
                return refuse(format!(
                    "a document may be nested at most {MAX_NESTING} levels deep"
                ));
            }
            add(document, &path, value)
        }
        "test" => {
            if document.is_none() && path.is_empty() {
                attribute(operation, "value")?;
            }
            let got = found(document.as_ref(), &path)?;
            let expected = attribute(operation, "value")?;
            if got == expected {
                return Ok(());
            }
            let (expected, got) = (Literal(expected), Literal(got));
            refuse(format!(
                "value from EditTree != patch value.\n\nExpected: {expected}\n\nFound: {got}"
            ))
        }
        other => refuse(format!("unrecognized op: '{other}'")),
    }
}

fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        Value::Set(members) => members.iter().map(depth).max(),
        _ => return 0,
    };
    1 + deepest.unwrap_or(0)
}

/// Parses a key as an index into an array of this length; `-` is the end.
fn index(length: usize, key: &Value) -> Result<usize, Failure> {
    let index = match key {
        Value::Number(number) => match number.as_whole() {
            Some(index) => index,
            None => return refuse("invalid number type for indexing"),
        },
        Value::String(text) if &**text == "-" => return Ok(length),
        Value::String(text) => match whole(text) {
            Some(_) if text.starts_with('0') && &**text != "0" => {
                return refuse("leading zeros are not allowed in JSON paths");
            }
            Some(index) => index,
            None => return refuse("invalid string for indexing"),
        },
        Value::Bytes(_) => return refuse("invalid string for indexing"),
        _ => return refuse("invalid type for indexing"),
    };
    // Negative indexes are out of bounds like those beyond the end.
    Ok(usize::try_from(index).unwrap_or(usize::MAX))
}

fn missing<T>(key: impl Display, document: &Value) -> Result<T, Failure> {
    let (kind, document) = (document.kind(), Literal(document));
    refuse(format!(
        "path {key} does not exist in {kind} term {document}"
    ))
}

/// Formats a key for messages: a string without its quotes.
fn key_text(key: &Value) -> Cow<'_, str> {
    key.as_lossy()
        .unwrap_or_else(|| Literal(key).to_string().into())
}

/// Returns the type name of a scalar that clients see.
fn scalar(value: &Value) -> String {
    let name = match value {
        Value::Null => "Null",
        Value::Bool(_) => "Boolean",
        Value::Number(_) => "Number",
        _ => "String",
    };
    format!("found value: {} (type: ast.{name})", Literal(value))
}

fn found<'d>(document: Option<&'d Value>, path: &[Value]) -> Result<&'d Value, Failure> {
    let Some(mut at) = document else {
        return refuse("nil value encountered where composite value was expected");
    };
    for key in path {
        at = match at {
            Value::Object(members) => members
                .get_value(key)
                .map_or_else(|| missing(Literal(key), at), Ok)?,
            Value::Set(members) => match members.get(key) {
                Some(member) => member,
                None => return missing(key_text(key), at),
            },
            Value::Array(items) => {
                let place = index(items.len(), key)?;
                match items.get(place) {
                    Some(item) => item,
                    None if place == usize::MAX => return missing(key_text(key), at),
                    None => return missing(place, at),
                }
            }
            other => {
                let (key, found) = (Literal(key), scalar(other));
                return refuse(format!("expected composite type for path {key}, {found}"));
            }
        };
    }
    Ok(at)
}

/// Modifies the value at a path; shared values along the path are copied.
fn change(
    at: &mut Value,
    path: &[Value],
    edit: &mut dyn FnMut(&mut Value) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some((key, rest)) = path.split_first() else {
        return edit(at);
    };
    found(Some(at), std::slice::from_ref(key))?;
    match at {
        Value::Object(members) => match members.get_value_mut(key) {
            Some(member) => change(member, rest, edit),
            None => Ok(()),
        },
        Value::Array(items) => {
            let index = index(items.len(), key)?;
            match items.get_mut(index) {
                Some(item) => change(item, rest, edit),
                None => Ok(()),
            }
        }
        Value::Set(members) => {
            let members = Arc::make_mut(members);
            if let Some(mut member) = members.take(key) {
                let changed = change(&mut member, rest, edit);
                members.insert(member);
                changed?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn add(document: &mut Option<Value>, path: &[Value], value: Value) -> Result<(), Failure> {
    let Some((key, above)) = path.split_last() else {
        *document = Some(value);
        return Ok(());
    };
    let Some(document) = document else {
        return refuse("deleted node encountered during insert operation");
    };
    let mut value = Some(value);
    change(document, above, &mut |at| {
        let Some(value) = value.take() else {
            return Ok(());
        };
        match at {
            Value::Object(members) => {
                members.insert(key.clone(), value);
            }
            Value::Set(_) if value != *key => {
                let (key, value) = (Literal(key), Literal(&value));
                return refuse(format!(
                    "set key {key} does not equal value to be inserted {value}"
                ));
            }
            Value::Set(members) => {
                Arc::make_mut(members).insert(value);
            }
            Value::Array(items) => {
                let index = index(items.len(), key)?;
                if index > items.len() {
                    return refuse("index for array insertion out of bounds");
                }
                items.insert(index, value);
            }
            other => return refuse(format!("expected composite type, {}", scalar(other))),
        }
        Ok(())
    })
}

fn remove(document: &mut Option<Value>, path: &[Value]) -> Result<(), Failure> {
    let removed = "deleted node encountered during delete operation";
    let Some((key, above)) = path.split_last() else {
        return match document.take() {
            Some(_) => Ok(()),
            None => refuse(removed),
        };
    };
    let Some(document) = document else {
        return refuse(removed);
    };
    let unknown = || {
        let key = Literal(key);
        refuse(format!("cannot delete child key {key} that does not exist"))
    };
    change(document, above, &mut |at| {
        match at {
            Value::Object(members) if members.get_value(key).is_none() => return unknown(),
            Value::Object(members) => {
                members.remove_value(key);
            }
            Value::Set(members) if !members.contains(key) => return unknown(),
            Value::Set(members) => {
                Arc::make_mut(members).remove(key);
            }
            Value::Array(items) => {
                let index = index(items.len(), key)?;
                if index >= items.len() {
                    return refuse("index for array delete out of bounds");
                }
                items.remove(index);
            }
            other => return refuse(format!("expected composite type, {}", scalar(other))),
        }
        Ok(())
    })
}
