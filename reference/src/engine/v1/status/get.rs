//! GET /v1/status

use http::StatusCode;
use rego::Value;

use crate::engine::Engine;
use crate::http::{ApiError, Code, Reply, Request};

/// Shows the state of the instance, if its configuration has somebody told about it.
///
/// # Errors
/// `internal_error` when the configuration has no effective section `status`.
pub(in crate::engine) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    if engine.config().plugins.status.is_none() {
        let message = "the status plugin is not enabled";
        return Err(ApiError::new(Code::InternalError, message));
    }
    let body = Value::object([("result", engine.report())]);
    Ok(Reply::document(
        StatusCode::OK,
        &body,
        request.flag("pretty"),
    ))
}
