//! The functions of templates, and what they work on.

use std::cmp::Ordering;

use crate::Value;
use crate::builtins::operand::refuse;
use crate::builtins::sprintf::formatted;
use crate::builtins::strings::bound;
use crate::builtins::{Call, Failure};
use crate::value::{Array, Characters};

/// A value in a template. Numbers of documents are as true as strings, integers of the template
/// itself are false when they are zero.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Value(Option<Value>),
    Integer(i64),
}

impl Item {
    fn value(&self) -> Value {
        match self {
            Self::Value(value) => value.clone().unwrap_or(Value::Null),
            Self::Integer(integer) => Value::from(*integer),
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Integer(integer) => *integer != 0,
            Self::Value(None | Some(Value::Null)) => false,
            Self::Value(Some(value)) => match value {
                Value::Bool(value) => *value,
                Value::String(text) => !text.is_empty(),
                Value::Array(items) => !items.is_empty(),
                Value::Object(members) => !members.is_empty(),
                _ => true,
            },
        }
    }

    /// Appends the item as Go prints it.
    pub(super) fn print(&self, call: &Call<'_>, out: &mut String) -> Result<(), Failure> {
        match self {
            Self::Integer(integer) => out.push_str(&integer.to_string()),
            Self::Value(None | Some(Value::Null)) => out.push_str("<no value>"),
            Self::Value(Some(value)) => print(call, value, out)?,
        }
        Ok(())
    }

    pub(super) fn shown(&self, call: &Call<'_>) -> Result<String, Failure> {
        let mut out = String::new();
        self.print(call, &mut out)?;
        Ok(out)
    }
}

/// Appends a value as Go prints it. Values share their parts, so each part that is shown counts.
fn print(call: &Call<'_>, value: &Value, out: &mut String) -> Result<(), Failure> {
    call.make(1)?;
    bound(out.len())?;
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::String(text) => out.push_str(text),
        Value::Bytes(_) => return refuse("template: invalid string: expected UTF-8"),
        Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
        Value::Array(items) => print_list(call, items.iter(), out)?,
        Value::Set(members) => print_list(call, members.iter(), out)?,
        Value::Object(members) => {
            out.push_str("map[");
            for (at, (key, value)) in members.iter().enumerate() {
                out.push_str(if at > 0 { " " } else { "" });
                print(call, key, out)?;
                out.push(':');
                print(call, value, out)?;
            }
            out.push(']');
        }
    }
    Ok(())
}

fn print_list<'v>(
    call: &Call<'_>,
    items: impl Iterator<Item = &'v Value>,
    out: &mut String,
) -> Result<(), Failure> {
    out.push('[');
    for (at, item) in items.enumerate() {
        out.push_str(if at > 0 { " " } else { "" });
        print(call, item, out)?;
    }
    out.push(']');
    Ok(())
}

fn text(text: String) -> Result<Item, Failure> {
    Ok(Item::Value(Some(Value::from(text))))
}

fn truth(value: bool) -> Result<Item, Failure> {
    Ok(Item::Value(Some(Value::from(value))))
}

/// Calls a function.
pub(super) fn called(call: &Call<'_>, name: &str, operands: &[Item]) -> Result<Item, Failure> {
    let wrong = || refuse(format!("template: wrong number of args for {name}"));
    match (name, operands) {
        ("and", [.., last]) => {
            let first = operands.iter().find(|item| !item.is_true());
            Ok(first.unwrap_or(last).clone())
        }
        ("or", [.., last]) => {
            let first = operands.iter().find(|item| item.is_true());
            Ok(first.unwrap_or(last).clone())
        }
        ("not", [only]) => truth(!only.is_true()),
        ("len", [only]) => length(only),
        ("index", [whole, keys @ ..]) => keys
            .iter()
            .try_fold(whole.clone(), |at, key| index(&at, key)),
        ("eq", [first, others @ ..]) if !others.is_empty() => {
            let first = first.value();
            truth(others.iter().any(|other| other.value() == first))
        }
        ("ne", [left, right]) => truth(left.value() != right.value()),
        ("lt" | "le" | "gt" | "ge", [left, right]) => {
            let order = left.value().cmp(&right.value());
            truth(match name {
                "lt" => order == Ordering::Less,
                "le" => order != Ordering::Greater,
                "gt" => order == Ordering::Greater,
                _ => order != Ordering::Less,
            })
        }
        ("print", _) => text(printed(call, operands)?),
        ("println", _) => {
            let shown = operands.iter().map(|item| item.shown(call));
            let shown = shown.collect::<Result<Vec<_>, Failure>>()?;
            text(shown.join(" ") + "\n")
        }
        ("printf", [format, arguments @ ..]) => {
            let format = format.shown(call)?;
            let arguments: Array = arguments.iter().map(Item::value).collect();
            let formatted = formatted(call, &Characters::from(&*format), &arguments)?;
            match String::from_utf8(formatted) {
                Ok(formatted) => text(formatted),
                Err(_) => refuse("template: invalid string: expected UTF-8"),
            }
        }
        _ => wrong(),
    }
}

/// Operands in a row, with a blank between two that are no strings.
fn printed(call: &Call<'_>, operands: &[Item]) -> Result<String, Failure> {
    let is_text = |item: &Item| matches!(item, Item::Value(Some(Value::String(_))));
    let mut out = String::new();
    let mut before: Option<&Item> = None;
    for item in operands {
        if before.is_some_and(|before| !is_text(before) && !is_text(item)) {
            out.push(' ');
        }
        item.print(call, &mut out)?;
        before = Some(item);
    }
    Ok(out)
}

fn length(item: &Item) -> Result<Item, Failure> {
    let length = match item {
        Item::Value(Some(Value::String(text))) => text.len(),
        Item::Value(Some(Value::Array(items))) => items.len(),
        Item::Value(Some(Value::Object(members))) => members.len(),
        _ => return refuse("template: len of what has no length"),
    };
    Ok(Item::Integer(i64::try_from(length).unwrap_or(i64::MAX)))
}

fn index(whole: &Item, key: &Item) -> Result<Item, Failure> {
    match (whole, key.value()) {
        (Item::Value(Some(Value::Object(members))), key) => {
            Ok(Item::Value(members.get_value(&key).cloned()))
        }
        (Item::Value(Some(Value::Array(items))), Value::Number(number)) => {
            let at = number.as_i64().and_then(|at| usize::try_from(at).ok());
            match at.and_then(|at| items.get(at)) {
                Some(item) => Ok(Item::Value(Some(item.clone()))),
                None => refuse(format!("template: index out of range: {number}")),
            }
        }
        _ => refuse("template: can't index item"),
    }
}
