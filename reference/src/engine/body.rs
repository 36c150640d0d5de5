//! Request bodies: JSON or, where it is read, YAML.

use rego::Value;
use rego::value::{from_json_prefix, from_yaml};

use crate::http::{ApiError, Request};

/// The JSON value at the start of a body; what stands behind it is not looked at.
pub(super) fn json(request: &Request) -> Result<Value, ApiError> {
    from_json_prefix(&request.body)
        .map_err(|error| ApiError::invalid_parameter(format!("request body: {error}")))
}

/// The JSON object at the start of a body.
pub(super) fn object(request: &Request) -> Result<Value, ApiError> {
    let body = json(request)?;
    match body.kind() {
        "object" => Ok(body),
        kind => Err(ApiError::invalid_parameter(format!(
            "request body: expected an object, found {kind}"
        ))),
    }
}

/// A member of a request's object that must be a string.
pub(super) fn string<'b>(body: &'b Value, name: &str) -> Result<&'b str, ApiError> {
    let text = body.get(name).and_then(Value::as_str);
    text.ok_or_else(|| ApiError::invalid_parameter(format!("`{name}` must be a string")))
}

/// The value that a body holds, YAML when its type says so, if it holds any.
pub(super) fn input(request: &Request) -> Result<Option<Value>, ApiError> {
    let kind = request.header("content-type").unwrap_or_default();
    if kind.contains("yaml") {
        let value = from_yaml(&request.body)
            .map_err(|error| ApiError::invalid_parameter(format!("input document: {error}")))?;
        return Ok(Some(value));
    }
    if request.body.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let value = from_json_prefix(&request.body)
        .map_err(|error| ApiError::invalid_parameter(format!("input document: {error}")))?;
    Ok(Some(value))
}
