//! Validates documents step by step.

use super::super::{Call, Failure};
use super::compile::MAX_DEPTH;
use super::findings::Findings;
use super::node::{Node, Schema, SubschemaId};
use super::numbers::is_integer;
use super::path::Path;
use crate::Value;

/// Validator of a document against a schema.
pub(super) struct Validator<'v> {
    pub(super) call: &'v Call<'v>,
    nodes: &'v [Node],
    depth: usize,
}

/// Returns the findings on a document.
///
/// # Errors
/// When the evaluation has to end, or the schema recurses endlessly.
pub(super) fn validate(
    call: &Call<'_>,
    schema: &Schema,
    document: &Value,
) -> Result<Findings, Failure> {
    let mut validator = Validator {
        call,
        nodes: &schema.nodes,
        depth: 0,
    };
    let mut found = Findings::default();
    validator.check(0, document, &Path::Root, &mut found)?;
    Ok(found)
}

fn endless() -> Failure {
    Failure::Halt("json.match_schema: the schema refers to itself without end".to_owned())
}

impl<'v> Validator<'v> {
    /// Checks a part of a document against a subschema.
    ///
    /// # Errors
    /// As [`validate`].
    pub(super) fn check(
        &mut self,
        place: SubschemaId,
        value: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let node = self.resolve(place)?;
        match node.verdict {
            Some(true) => return Ok(()),
            Some(false) => {
                let text = || "False always fails validation".to_owned();
                return found.add(self.call, path, "false", text);
            }
            None => {}
        }
        if self.depth >= MAX_DEPTH {
            return Err(endless());
        }
        self.depth += 1;
        let checked = stacker::maybe_grow(64 << 10, 1 << 20, || {
            self.check_node(node, value, path, found)
        });
        self.depth -= 1;
        checked
    }

    /// Follows all references and returns the final subschema.
    fn resolve(&self, place: SubschemaId) -> Result<&'v Node, Failure> {
        let mut at = self.nodes.get(place);
        let mut left = self.nodes.len();
        loop {
            self.call.check()?;
            match at {
                Some(node) if node.target.is_none() => return Ok(node),
                Some(node) if left > 0 => {
                    left -= 1;
                    at = node.target.and_then(|target| self.nodes.get(target));
                }
                _ => return Err(endless()),
            }
        }
    }

    fn check_node(
        &mut self,
        node: &'v Node,
        value: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let actual = type_of(value);
        if !node.types.allow(actual) {
            return found.add(self.call, path, "invalid_type", || {
                let expected = node.types.to_text();
                format!("Invalid type. Expected: {expected}, given: {actual}")
            });
        }
        self.check_combined(node, value, path, found)?;
        match value {
            Value::Array(items) => {
                if let Some(keywords) = &node.items {
                    keywords.check(self, items, path, found)?;
                }
                found.step();
            }
            Value::Object(members) => {
                if let Some(keywords) = &node.members {
                    keywords.check(self, members, path, found)?;
                }
                found.step();
            }
            Value::Number(number) => {
                if let Some(keywords) = &node.numbers {
                    keywords.check(self, number, path, found)?;
                }
                found.step();
            }
            _ => {}
        }
        if let Some(values) = &node.values {
            values.check(self, value, path, found)?;
        }
        found.step();
        match (value, &node.members, &node.strings) {
            (Value::Object(members), Some(keywords), _) => {
                keywords.check_properties(self, members, path, found)?;
            }
            (Value::String(text), _, strings) => {
                if let Some(strings) = strings {
                    strings.check(self, text, path, found)?;
                }
                found.step();
            }
            _ => {}
        }
        found.step();
        Ok(())
    }

    /// Checks the keywords that combine subschemas.
    fn check_combined(
        &mut self,
        node: &'v Node,
        value: &Value,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        if let Some(choices) = &node.choices {
            choices.check(self, value, path, found)?;
        }
        if let Some(members) = &node.members {
            members.check_dependencies(self, value, path, found)?;
        }
        if let Some(choices) = &node.choices {
            choices.check_condition(self, value, path, found)?;
        }
        found.step();
        Ok(())
    }
}

/// Returns the JSON Schema type of a value. Any notation of an integer, such as `1.0`, is an
/// integer.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_integer(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) | Value::Bytes(_) => "string",
        Value::Array(_) | Value::Set(_) => "array",
        Value::Object(_) => "object",
    }
}
