//! Loads an OpenAPI document as operations with compiled schemas.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use super::keys::keys;
use super::{
    Content, ContractError, Operation, Parameter, ParameterFormat, Schema, Segment, Template,
};
use crate::catalogue::Document;

const METHODS: [&str; 8] = [
    "get", "put", "post", "patch", "delete", "head", "options", "trace",
];

/// Reads every operation of an API's document.
pub(super) fn operations(
    files: &[(&str, &str)],
    api: Document,
) -> Result<Vec<Operation>, ContractError> {
    let name = format!("{}.openapi", api.name());
    let failed = |what: String| ContractError {
        file: name.clone(),
        what,
    };
    let text = files.iter().find(|(path, _)| *path == name);
    let (_, text) = text.ok_or_else(|| failed("missing".to_owned()))?;
    let document: Value = serde_yaml::from_str(text).map_err(|error| failed(error.to_string()))?;
    let mut loader = Loader {
        document: &document,
        compiled: HashMap::new(),
    };
    loader.operations().map_err(failed)
}

struct Loader<'a> {
    document: &'a Value,
    /// Compiled schemas by their JSON, since most responses share a few.
    compiled: HashMap<String, Arc<Validator>>,
}

impl<'a> Loader<'a> {
    fn operations(&mut self) -> Result<Vec<Operation>, String> {
        let mut operations = Vec::new();
        for (path, item) in members(self.document.get("paths")) {
            for method in METHODS {
                if let Some(operation) = item.get(method) {
                    let place = format!("{} {path}", method.to_uppercase());
                    let read = self
                        .operation(method, path, item, operation)
                        .map_err(|what| format!("{place}: {what}"))?;
                    operations.push(read);
                }
            }
        }
        if operations.is_empty() {
            return Err("no operation in `paths`".to_owned());
        }
        Ok(operations)
    }

    fn operation(
        &mut self,
        method: &str,
        path: &str,
        item: &'a Value,
        operation: &'a Value,
    ) -> Result<Operation, String> {
        let mut many = Vec::new();
        let mut parameters = Vec::new();
        for listed in items(item.get("parameters")).chain(items(operation.get("parameters"))) {
            let parameter = self.resolve(listed)?;
            match text(parameter, "in") {
                "query" => parameters.push(self.parameter(parameter)?),
                "path" if text(parameter, "x-segments") == "many" => {
                    many.push(text(parameter, "name"));
                }
                _ => {}
            }
        }
        let request = match operation.get("requestBody") {
            Some(body) => Some(self.resolve(body)?),
            None => None,
        };
        let mut responses = BTreeMap::new();
        let mut named = BTreeMap::new();
        for (status, response) in members(operation.get("responses")) {
            let response = self.resolve(response)?;
            responses.insert(status.to_owned(), self.content(response)?);
            let schemas = members(response.get("content")).map(|(_, media)| media.get("schema"));
            let keys = schemas.flat_map(|schema| keys(self.document, schema));
            named.insert(status.to_owned(), keys.collect());
        }
        Ok(Operation {
            method: method.to_uppercase(),
            template: template(path, &many),
            parameters,
            request_required: request.is_some_and(|body| flag(body, "required")),
            request: request.map(|body| self.content(body)).transpose()?,
            responses,
            members: named,
        })
    }

    fn parameter(&mut self, parameter: &'a Value) -> Result<Parameter, String> {
        let content = members(parameter.get("content")).next();
        let schema = match content {
            Some((_, media)) => media.get("schema"),
            None => parameter.get("schema"),
        };
        let kinds = match schema {
            Some(schema) => kinds(self.resolve(schema)?),
            None => Vec::new(),
        };
        let reading = if kinds.contains(&"array") {
            ParameterFormat::List
        } else if content.is_some() || kinds.iter().any(|kind| *kind != "string") {
            ParameterFormat::Json
        } else {
            ParameterFormat::Text
        };
        Ok(Parameter {
            name: text(parameter, "name").to_owned(),
            required: flag(parameter, "required"),
            allow_empty: flag(parameter, "allowEmptyValue"),
            reading,
            schema: self.schema(schema)?,
        })
    }

    fn content(&mut self, holder: &Value) -> Result<Content, String> {
        members(holder.get("content"))
            .map(|(name, media)| Ok((name.to_owned(), self.schema(media.get("schema"))?)))
            .collect()
    }

    /// Compiles a schema, together with the components, so that `#/components/…` resolves.
    fn schema(&mut self, schema: Option<&Value>) -> Result<Schema, String> {
        let Some(schema) = schema else {
            return Ok(Schema(None));
        };
        let key = schema.to_string();
        if let Some(known) = self.compiled.get(&key) {
            return Ok(Schema(Some(Arc::clone(known))));
        }
        let whole = json!({
            "components": self.document.get("components"),
            "allOf": [schema],
        });
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .build(&whole)
            .map_err(|error| format!("schema {key}: {error}"))?;
        let validator = Arc::new(validator);
        self.compiled.insert(key, Arc::clone(&validator));
        Ok(Schema(Some(validator)))
    }

    /// Follows a `$ref` inside the document.
    fn resolve(&self, value: &'a Value) -> Result<&'a Value, String> {
        match value.get("$ref").and_then(Value::as_str) {
            None => Ok(value),
            Some(reference) => reference
                .strip_prefix('#')
                .and_then(|pointer| self.document.pointer(pointer))
                .ok_or_else(|| format!("`{reference}` refers to nothing in the document")),
        }
    }
}

fn template(path: &str, many: &[&str]) -> Template {
    let segment = |part: &str| match part.strip_prefix('{').and_then(|p| p.strip_suffix('}')) {
        Some(name) => Segment::Parameter {
            many: many.contains(&name),
        },
        None => Segment::Literal(part.to_owned()),
    };
    Template {
        text: path.to_owned(),
        segments: path
            .trim_start_matches('/')
            .split('/')
            .map(segment)
            .collect(),
    }
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value))
}

fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// Returns the JSON types that a schema names; if none, any string is accepted.
fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        list => items(list).filter_map(Value::as_str).collect(),
    }
}
