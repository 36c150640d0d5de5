//! PATCH /v1/data/{path}

use rego::Value;

use super::{without_conflict, write_reply};
use crate::metrics::Metrics;
use crate::{Engine, StoreError, errors, request_body, store};
use http_server::path::decode_segment;
use http_server::{ApiError, Reply, Request};

/// Parsed operation of a patch.
struct Operation {
    kind: Kind,
    path: Vec<String>,
}

enum Kind {
    Add(Value),
    Replace(Value),
    Remove,
}

/// Applies the operations of a JSON Patch in order, all or none.
///
/// # Errors
/// `invalid_parameter` when the body is not an array of `add`, `remove` and `replace` operations, a
/// bundle owns the path of one, or a document would conflict with a rule; `resource_not_found` when
/// the parent of an added document, or a document to be removed or replaced, does not exist.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_write(request);
    let operations = metrics.time("timer_rego_input_parse_ns", || operations(request))?;
    engine.write(|contents| {
        for operation in operations {
            contents.bundles.permit(&operation.path)?;
            let path = operation.path.clone();
            operation.carry_out(&mut contents.documents)?;
            let checked = without_conflict(contents, &path);
            checked.map_err(|errors| errors::rule_conflict_of_patch(&errors))?;
        }
        Ok::<(), ApiError>(())
    })?;
    Ok(write_reply(metrics))
}

impl Operation {
    fn carry_out(self, documents: &mut Value) -> Result<(), StoreError> {
        match self.kind {
            Kind::Add(value) => store::add(documents, &self.path, value),
            Kind::Replace(value) => store::replace(documents, &self.path, value),
            Kind::Remove => store::remove(documents, &self.path),
        }
    }
}

fn operations(request: &Request) -> Result<Vec<Operation>, ApiError> {
    let body = request_body::changes(request)?;
    match &body {
        Value::Array(items) => {
            let operations = items
                .iter()
                .map(|item| operation(item, request.path.open()));
            operations.collect()
        }
        other => Err(ApiError::invalid_parameter(format!(
            "request body: expected an array of operations, found {}",
            other.kind()
        ))),
    }
}

fn operation(item: &Value, base: &[String]) -> Result<Operation, ApiError> {
    if item.as_object().is_none() {
        let message = format!("patch operation: expected an object, found {}", item.kind());
        return Err(ApiError::invalid_parameter(message));
    }
    let value = || item.get("value").cloned().unwrap_or(Value::Null);
    let kind = match text(item, "op")? {
        "add" => Kind::Add(value()),
        "replace" => Kind::Replace(value()),
        "remove" => Kind::Remove,
        other => {
            let message = format!("patch operation `{other}`: expected add, remove or replace");
            return Err(ApiError::invalid_parameter(message));
        }
    };
    let mut path = base.to_vec();
    let pointer = text(item, "path")?.trim_matches('/');
    if !pointer.is_empty() {
        for segment in pointer.split('/') {
            path.push(
                decode_segment(segment)?
                    .replace("~1", "/")
                    .replace("~0", "~"),
            );
        }
    }
    Ok(Operation { kind, path })
}

/// Member that must be a string; a missing one counts as empty.
fn text<'v>(item: &'v Value, name: &str) -> Result<&'v str, ApiError> {
    match item.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(ApiError::invalid_parameter(format!(
            "patch operation: `{name}` must be a string, found {}",
            other.kind()
        ))),
    }
}
