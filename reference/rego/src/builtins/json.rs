//! JSON as strings: `json.marshal`, `json.unmarshal`, `json.is_valid`.

use super::expected::{CallResult, mismatch};
use super::json_words::{explained, is_before_null};
use super::marshal::{Layout, marshalled};
use super::operand::{answer, any, characters, object, refuse};
use super::{Call, Cost, Group};
use crate::Value;
use crate::value::{Literal, from_json, from_json_prefix};

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
    let (mut requested, mut implied) = (None, false);
    for (at, (key, value)) in object(operands, 2)?.iter().enumerate() {
        let Some(name) = key.as_str() else {
            let (rendered, kind) = (Literal(key), key.kind());
            return mismatch(format!(
                "operand 2 failed to stringify key {rendered} at index {at}: operand {at} must be string but got {kind}"
            ));
        };
        let option = match name {
            "prefix" => &mut layout.prefix,
            "indent" => &mut layout.indent,
            "pretty" => {
                let Value::Bool(pretty) = value else {
                    let rendered = Literal(key);
                    return mismatch(format!("operand 2 key {rendered} failed cast to bool"));
                };
                requested = Some(*pretty);
                continue;
            }
            _ => {
                let rendered = Literal(key);
                return mismatch(format!("operand 2 object contained unknown key {rendered}"));
            }
        };
        let Some(text) = value.as_str() else {
            let (rendered, kind) = (Literal(key), value.kind());
            return mismatch(format!(
                "operand 2 key {rendered} failed cast to string: operand {at} must be string but got {kind}"
            ));
        };
        *option = text;
        implied = true;
    }
    let layout = requested.unwrap_or(implied).then_some(layout);
    answer(marshalled(call, any(operands, 1), layout)?)
}

fn unmarshal(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let characters = characters(operands, 1)?;
    let text = characters.as_str();
    let read = from_json(text.as_bytes()).or_else(|error| {
        match is_before_null(characters.whole(), &error) {
            true => from_json_prefix(text.as_bytes()),
            false => Err(error),
        }
    });
    match read {
        Ok(value) if !is_computable(&value) => refuse("invalid number: number too big"),
        Ok(value) => answer(value),
        Err(error) => refuse(explained(characters.whole(), &error)),
    }
}

/// Whether all numbers in a value are within the range of arithmetic.
fn is_computable(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_computable(),
        Value::Array(items) => items.iter().all(is_computable),
        Value::Object(members) => members.values().all(is_computable),
        _ => true,
    }
}
