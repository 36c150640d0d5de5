//! Overrides on the command line: `a.b=c,d={x,y}`. A backslash takes a character as it is.

use std::fs;

use rego::Value;
use rego::value::{Number, Object};

/// Puts the values of an override into the configuration; with `from_file` each value is the
/// name of a file that holds it.
pub(super) fn apply(config: &mut Value, text: &str, from_file: bool) -> Result<(), String> {
    for assignment in split(text, ',') {
        let sides = split(&assignment, '=');
        let (Some(key), true) = (sides.first(), sides.len() > 1) else {
            return Err(format!("`{assignment}` has no `=`"));
        };
        let given = assignment.get(key.len() + 1..).unwrap_or_default();
        let value = if from_file {
            let content = fs::read_to_string(given);
            Value::from(content.map_err(|source| format!("`{given}`: {source}"))?)
        } else {
            value(given)
        };
        let names = split(key, '.');
        let names: Vec<String> = names.iter().map(|name| plain(name)).collect();
        place(config, &names, value)?;
    }
    Ok(())
}

/// The parts of a text between separators that stand outside of braces and behind no backslash.
fn split(text: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut escaped) = (0_usize, false);
    for char in text.chars() {
        if char == separator && depth == 0 && !escaped {
            parts.push(String::new());
            continue;
        }
        match char {
            '{' if !escaped => depth += 1,
            '}' if !escaped => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = char == '\\' && !escaped;
        if let Some(part) = parts.last_mut() {
            part.push(char);
        }
    }
    parts
}

/// The text without the backslashes that take a character as it is.
fn plain(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::new();
    while let Some(char) = chars.next() {
        plain.extend(if char == '\\' {
            chars.next()
        } else {
            Some(char)
        });
    }
    plain
}

/// A list in braces, a boolean, `null`, an integer, or else a string.
fn value(text: &str) -> Value {
    let list = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    if let Some(items) = list {
        let items = split(items, ',');
        let items = items.iter().filter(|item| !item.is_empty());
        return Value::from(items.map(|item| value(item)).collect::<Vec<_>>());
    }
    match text {
        "true" => Value::from(true),
        "false" => Value::from(false),
        "null" => Value::Null,
        number if number == "0" || !number.starts_with('0') => match number.parse::<i64>() {
            Ok(number) => Value::Number(Number::from(number)),
            Err(_) => Value::from(plain(text)),
        },
        _ => Value::from(plain(text)),
    }
}

fn place(config: &mut Value, names: &[String], value: Value) -> Result<(), String> {
    let Some((name, below)) = names.split_first() else {
        *config = value;
        return Ok(());
    };
    if name.is_empty() {
        return Err("a key is empty".to_owned());
    }
    let Some(members) = config.as_object_mut() else {
        return Err(format!("`{name}` is below a value that is no object"));
    };
    members.insert_if_missing(name.as_str(), || Value::from(Object::new()));
    match members.get_mut(name) {
        Some(member) => place(member, below, value),
        None => Ok(()),
    }
}
