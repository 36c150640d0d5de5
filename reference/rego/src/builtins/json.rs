//! JSON as strings: `json.marshal`, `json.unmarshal`, `json.is_valid`.

use super::expected::{CallResult, mismatch};
use super::marshal::{Layout, marshalled};
use super::operand::{answer, any, characters, object, refuse};
use super::{Call, Cost, Group};
use crate::Value;
use crate::value::{Literal, SyntaxError, from_json};

pub(super) const BUILTINS: Group = &[
    ("json.is_valid", Cost::Linear, |_, operands| {
        let text = any(operands, 1).as_lossy();
        answer(text.is_some_and(|text| from_json(text.as_bytes()).is_ok()))
    }),
    ("json.marshal", Cost::Linear, |call, operands| {
        answer(marshalled(call, any(operands, 1), None)?)
    }),
    (
        "json.marshal_with_options",
        Cost::Stepping,
        marshal_with_options,
    ),
    ("json.unmarshal", Cost::Linear, unmarshal),
];

fn marshal_with_options(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut layout = Layout {
        prefix: "",
        indent: "\t",
    };
    let (mut asked, mut implied) = (None, false);
    for (at, (key, value)) in object(operands, 2)?.iter().enumerate() {
        let Some(name) = key.as_str() else {
            let (shown, kind) = (Literal(key), key.kind());
            return mismatch(format!(
                "operand 2 failed to stringify key {shown} at index {at}: operand {at} must be string but got {kind}"
            ));
        };
        let option = match name {
            "prefix" => &mut layout.prefix,
            "indent" => &mut layout.indent,
            "pretty" => {
                let Value::Bool(pretty) = value else {
                    let shown = Literal(key);
                    return mismatch(format!("operand 2 key {shown} failed cast to bool"));
                };
                asked = Some(*pretty);
                continue;
            }
            _ => {
                let shown = Literal(key);
                return mismatch(format!("operand 2 object contained unknown key {shown}"));
            }
        };
        let Some(text) = value.as_str() else {
            let (shown, kind) = (Literal(key), value.kind());
            return mismatch(format!(
                "operand 2 key {shown} failed cast to string: operand {at} must be string but got {kind}"
            ));
        };
        *option = text;
        implied = true;
    }
    let layout = asked.unwrap_or(implied).then_some(layout);
    answer(marshalled(call, any(operands, 1), layout)?)
}

fn unmarshal(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let characters = characters(operands, 1)?;
    let text = characters.as_str();
    match from_json(text.as_bytes()) {
        Ok(value) if !is_computable(&value) => refuse("invalid number: number too big"),
        Ok(value) => answer(value),
        Err(error) => refuse(explained(text, &error)),
    }
}

/// Whether all numbers in a value can be computed with.
fn is_computable(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_computable(),
        Value::Array(items) => items.iter().all(is_computable),
        Value::Object(members) => members.values().all(is_computable),
        _ => true,
    }
}

/// What is wrong with the text, in the words of clients.
fn explained(text: &str, error: &SyntaxError) -> String {
    if text.trim().is_empty() {
        return "EOF".to_owned();
    }
    let line = text.split('\n').nth(error.line - 1).unwrap_or_default();
    let before = line.chars().take(error.column - 1).last();
    let mut rest = line.chars().skip(error.column - 1);
    let found = rest.next().or_else(|| {
        let last = text.split('\n').count() == error.line;
        (!last).then_some('\n')
    });
    let within = match error.message {
        "expected a value" => "looking for beginning of value",
        "expected nothing after the value" => "after top-level value",
        "expected `,` or `]`" => "after array element",
        "expected `,` or `}`" => "after object key:value pair",
        "expected a member name" => "looking for beginning of object key string",
        "expected `:`" => "after object key",
        "expected a digit" => match before {
            Some('.') => "after decimal point in numeric literal",
            Some('-') | None => "in numeric literal",
            _ => "in exponent of numeric literal",
        },
        "control character in a string" => "in string literal",
        "unknown escape" => "in string escape code",
        "expected four hexadecimal digits" => "in \\u hexadecimal character escape",
        other if found.is_some() => return other.to_owned(),
        _ => "",
    };
    let word: String = found.into_iter().chain(rest).collect();
    if within == "looking for beginning of value"
        && let Some(message) = misspelt(&word)
    {
        return message;
    }
    match found {
        Some(found) => {
            let shown = match found {
                '\'' => "'\\''".to_owned(),
                '"' => "'\"'".to_owned(),
                other => format!("'{}'", other.escape_default()),
            };
            let lead = if within == "after top-level value" {
                "error: "
            } else {
                ""
            };
            format!("{lead}invalid character {shown} {within}")
        }
        _ => "unexpected EOF".to_owned(),
    }
}

/// What is wrong with a text that begins like a word of JSON.
fn misspelt(text: &str) -> Option<String> {
    let words = ["true", "false", "null"];
    let word = words
        .into_iter()
        .find(|word| word.get(..1) == text.get(..1))?;
    let mut letters = text.chars();
    for expected in word.chars() {
        match letters.next() {
            Some(letter) if letter == expected => {}
            Some(letter) => {
                return Some(format!(
                    "invalid character '{}' in literal {word} (expecting '{expected}')",
                    letter.escape_default()
                ));
            }
            None => break,
        }
    }
    Some("unexpected EOF".to_owned())
}
