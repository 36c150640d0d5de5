//! `json.match_schema` and `json.verify_schema`.
//!
//! A schema is compiled to a tree of subschemas, in which references are indexes: [`compile`] reads
//! the document, one module per kind of keywords, and [`pool`] resolves references. [`validate`]
//! checks a document step by step and charges each step to the meter, so that a check is
//! interruptible for any schema and document. Findings are in the order in which the keywords are
//! checked; members are checked in the order of their names.

mod choices;
mod compile;
mod draft;
mod email;
mod fault;
mod findings;
mod format;
mod items;
mod literal;
mod members;
mod node;
mod numbers;
mod path;
mod pool;
mod read;
mod reference;
mod strings;
mod types;
mod validate;
mod values;

use super::expected::CallResult;
use super::operand::{answer, any, refuse};
use super::{BuiltinLimit, Call, Cost, Failure, Group, Maximum};
use crate::Value;
use crate::value::{Text, from_json};
use fault::Fault;
use findings::Finding;
use node::Schema;

pub(super) const BUILTINS: Group = &[
    ("json.match_schema", Cost::Library, match_schema),
    ("json.verify_schema", Cost::Library, verify_schema),
];

pub(super) const LIMITS: &[BuiltinLimit] = &[
    BuiltinLimit {
        functions: &["json.match_schema", "json.verify_schema"],
        subject: "the patterns of a schema once they are compiled, about",
        most: Maximum::Bytes(compile::MAX_PATTERNS),
    },
    BuiltinLimit {
        functions: &["json.match_schema", "json.verify_schema"],
        subject: "subschemas within each other, also by references",
        most: Maximum::Levels(compile::MAX_DEPTH),
    },
];

/// Returns the document that an operand is or, as a string, contains.
fn document(value: &Value) -> Result<Value, &'static str> {
    let read = |text: &str| from_json(text.as_bytes()).map_err(|_| "invalid JSON string");
    match value {
        Value::String(text) => read(text),
        Value::Object(_) | Value::Array(_) if is_json(value) => Ok(value.clone()),
        Value::Object(_) | Value::Array(_) => read(&value.to_string()),
        Value::Bytes(_) => Err("invalid JSON string"),
        _ => Err("wrong type, expected string or object"),
    }
}

/// Whether a value is representable in JSON: without sets, with string names.
fn is_json(value: &Value) -> bool {
    stacker::maybe_grow(64 << 10, 1 << 20, || match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Bytes(_) | Value::Set(_) => false,
        Value::Array(items) => items.iter().all(is_json),
        Value::Object(members) => members
            .iter()
            .all(|(key, member)| key.as_str().is_some() && is_json(member)),
    })
}

fn verify_schema(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let compiled = match document(any(operands, 1)) {
        Ok(document) => compile::compile(call, &document),
        Err(message) => Err(Fault::Schema(message.to_owned())),
    };
    match compiled {
        Ok(_) => answer(vec![Value::from(true), Value::Null]),
        Err(Fault::Failure(failure)) => Err(failure),
        Err(Fault::Schema(message)) => {
            let message = Value::from(format!("jsonschema: {message}"));
            answer(vec![Value::from(false), message])
        }
    }
}

fn match_schema(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let read = |position| document(any(operands, position)).or_else(refuse);
    let document = read(1)?;
    let key = Text::from(any(operands, 2).to_string());
    let schema = call.prepared("schema", &key, |call| -> Result<Schema, Failure> {
        compile::compile(call, &read(2)?).or_else(|fault| match fault {
            Fault::Schema(message) => refuse(message),
            Fault::Failure(failure) => Err(failure),
        })
    })?;
    let found = validate::validate(call, &schema, &document)?;
    let described: Vec<Value> = found.all.iter().map(Finding::to_value).collect();
    answer(vec![Value::from(found.is_valid()), Value::from(described)])
}
