//! Request bodies: JSON or, where it is read, YAML.

use rego::Value;
use rego::value::{from_json_prefix, from_yaml};

use crate::http::{ApiError, Request};

/// The JSON value at the start of a body; what stands behind it is not looked at.
pub(super) fn json(request: &Request) -> Result<Value, ApiError> {
    from_json_prefix(&request.body)
        .map_err(|error| ApiError::invalid_parameter(format!("request body: {error}")))
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
