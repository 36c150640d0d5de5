//! The functions of templates, and what they work on.

use std::cmp::Ordering;

use crate::Value;
use crate::builtins::operand::refuse;
use crate::builtins::sprintf::formatted;
use crate::builtins::{Call, Failure};
use crate::value::Array;

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

    pub(super) fn shown(&self) -> String {
        match self {
            Self::Integer(integer) => integer.to_string(),
            Self::Value(None | Some(Value::Null)) => "<no value>".to_owned(),
            Self::Value(Some(value)) => shown(value),
        }
    }
}

/// A value as Go prints it.
fn shown(value: &Value) -> String {
    let all =
        |items: &mut dyn Iterator<Item = &Value>| items.map(shown).collect::<Vec<_>>().join(" ");
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.to_string(),
        Value::Array(items) => format!("[{}]", all(&mut items.iter())),
        Value::Set(members) => format!("[{}]", all(&mut members.iter())),
        Value::Object(members) => {
            let members = members.iter();
            let pairs = members.map(|(key, value)| format!("{}:{}", shown(key), shown(value)));
            format!("map[{}]", pairs.collect::<Vec<_>>().join(" "))
        }
        other => other.to_string(),
    }
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
        ("print", _) => text(printed(operands)),
        ("println", _) => {
            let shown: Vec<String> = operands.iter().map(Item::shown).collect();
            text(shown.join(" ") + "\n")
        }
        ("printf", [format, arguments @ ..]) => {
            let format = format.shown();
            let arguments: Array = arguments.iter().map(Item::value).collect();
            text(formatted(call, &format, &arguments)?)
        }
        _ => wrong(),
    }
}

/// Operands in a row, with a blank between two that are no strings.
fn printed(operands: &[Item]) -> String {
    let is_text = |item: &Item| matches!(item, Item::Value(Some(Value::String(_))));
    let mut out = String::new();
    let mut before: Option<&Item> = None;
    for item in operands {
        if before.is_some_and(|before| !is_text(before) && !is_text(item)) {
            out.push(' ');
        }
        out.push_str(&item.shown());
        before = Some(item);
    }
    out
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
