//! GET /v1/config

use http::StatusCode;
use rego::Value;

use crate::Engine;
use http_server::{ApiError, Reply, Request};

/// Returns the active configuration without secrets.
///
/// # Errors
/// None.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let body = Value::object([("result", engine.config().displayed.clone())]);
    Ok(Reply::document(
        StatusCode::OK,
        &body,
        request.flag("pretty"),
    ))
}
