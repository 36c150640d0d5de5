//! `json.match_schema` and `json.verify_schema`.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value as Json;

use super::expected::CallResult;
use super::operand::{answer, any, refuse};
use super::schema_errors::{Complaint, complaints, misdeclared};
use super::{Call, Cost, Failure, Group, Prepared, schema_cost};
use crate::Value;
use crate::value::{Text, from_json};

pub(super) const BUILTINS: Group = &[
    ("json.match_schema", Cost::Library, match_schema),
    ("json.verify_schema", Cost::Library, verify_schema),
];

/// The document that an operand is or, a string, contains.
fn document(value: &Value) -> Result<Json, &'static str> {
    match value {
        Value::String(text) => match from_json(text.as_bytes()) {
            Ok(value) => converted(&value),
            Err(_) => Err("invalid JSON string"),
        },
        Value::Object(_) | Value::Array(_) => converted(value),
        _ => Err("wrong type, expected string or object"),
    }
}

fn converted(value: &Value) -> Result<Json, &'static str> {
    serde_json::to_value(value).map_err(|_| "a number that is none in JSON")
}

/// The bytes that a schema takes for each byte of its text.
const NODE: usize = 64;

/// A schema, and what checks documents by it.
pub(super) struct Schema {
    pub(super) text: Json,
    validator: Validator,
    /// The bytes of its compiled patterns, about.
    patterns: usize,
}

impl Prepared for Schema {
    fn bytes(&self, text: usize) -> usize {
        text.saturating_mul(NODE).saturating_add(self.patterns)
    }
}

/// Reads a schema, if it is affordable. No other documents are fetched for it.
fn compile(call: &Call<'_>, text: Json) -> Result<Result<Schema, String>, Failure> {
    let patterns = schema_cost::afford_compilation(call, &text)?;
    Ok(build(text, patterns))
}

fn build(text: Json, patterns: usize) -> Result<Schema, String> {
    let mut options = jsonschema::options().should_validate_formats(true);
    if text.get("$schema").is_none() {
        options = options.with_draft(Draft::Draft7);
    }
    // Patterns match in linear time.
    let options = options.with_pattern_options(PatternOptions::regex());
    let built = options.build(&text);
    match built {
        Ok(validator) => Ok(Schema {
            text,
            validator,
            patterns,
        }),
        Err(error) => Err(misdeclared(&error)),
    }
}

fn verify_schema(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let read = document(any(operands, 1)).map_err(str::to_owned);
    let compiled = match read {
        Ok(text) => compile(call, text)?,
        Err(message) => Err(message),
    };
    match compiled {
        Ok(_) => answer(vec![Value::from(true), Value::Null]),
        Err(message) => {
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
        compile(call, read(2)?)?.or_else(refuse)
    })?;
    schema_cost::afford(call, &schema.text, &document)?;
    let errors: Vec<ValidationError<'_>> = schema.validator.iter_errors(&document).collect();
    let mut found: Vec<Complaint> = Vec::new();
    for error in &errors {
        call.check()?;
        found.extend(complaints(&schema.text, error));
    }
    found.sort_by(|left, right| left.order().cmp(&right.order()));
    found.dedup();
    let described = found.iter().map(|complaint| {
        let field = match complaint.path.as_slice() {
            [] => "(Root)".to_owned(),
            path => path.join("."),
        };
        Value::object([
            ("error", Value::from(format!("{field}: {}", complaint.text))),
            ("type", Value::from(complaint.kind)),
            ("field", Value::from(field)),
            ("desc", Value::from(complaint.text.as_str())),
        ])
    });
    let described = Value::from(described.collect::<Vec<_>>());
    answer(vec![Value::from(errors.is_empty()), described])
}
