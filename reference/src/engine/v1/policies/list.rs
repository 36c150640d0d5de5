//! GET /v1/policies

use http::StatusCode;
use rego::Value;

use crate::engine::Engine;
use crate::http::{ApiError, Reply, Request};

/// Lists the policies: there are none.
///
/// # Errors
/// None.
pub(in crate::engine) fn handle(_engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let body = Value::object([("result", Value::from(Vec::new()))]);
    Ok(Reply::document(
        StatusCode::OK,
        &body,
        request.flag("pretty"),
    ))
}
