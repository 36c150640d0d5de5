//! `yaml.*`

use super::expected::CallResult;
use super::operand::{answer, any, refuse, text};
use super::yaml_text::marshalled;
use super::{BuiltinLimit, Call, Cost, Group, Maximum};
use crate::Value;
use crate::value::{MAX_YAML_LENGTH, YamlError, from_yaml};

pub(super) const BUILTINS: Group = &[
    ("yaml.is_valid", Cost::Library, |_, operands| {
        let text = any(operands, 1).as_str();
        answer(text.is_some_and(|text| from_yaml(text.as_bytes()).is_ok()))
    }),
    ("yaml.marshal", Cost::Stepping, |call, operands| {
        answer(marshalled(call, any(operands, 1))?)
    }),
    ("yaml.unmarshal", Cost::Library, unmarshal),
];

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["yaml.unmarshal", "yaml.is_valid"],
    subject: "length of a text",
    most: Maximum::Bytes(MAX_YAML_LENGTH),
}];

/// Start of an error message that is shown without a line number.
const MERGE: &str = "map merge requires";

fn unmarshal(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    match from_yaml(text(operands, 1)?.as_bytes()) {
        Ok(value) => answer(value),
        Err(YamlError::Syntax(error)) => {
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or(&text);
            let message = message.split(", while ").next().unwrap_or(message);
            let message = message.split(" at position ").next().unwrap_or(message);
            // Such an error has no path, either.
            let merge = message.find(MERGE).and_then(|at| message.get(at..));
            let message = merge.unwrap_or(message);
            let before = match merge.is_some() {
                true => 0,
                false => error.location().map_or(0, |place| place.line() - 1),
            };
            // Scanner errors report their own line, others the line before.
            let scanned = ["found ", "mapping values", "could not find"];
            let scanned = scanned.iter().any(|start| message.starts_with(start));
            match before {
                0 => refuse(format!("yaml: {message}")),
                line => refuse(format!(
                    "yaml: line {}: {message}",
                    line + usize::from(scanned)
                )),
            }
        }
        Err(other) => refuse(format!("yaml: {other}")),
    }
}
