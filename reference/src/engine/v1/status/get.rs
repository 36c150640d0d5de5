//! GET /v1/status

use http::StatusCode;
use rego::Value;

use crate::engine::{Engine, errors};
use crate::http::{ApiError, Reply, Request};

/// Returns the state of the instance, if status reports are configured.
///
/// # Errors
/// `internal_error` when the configuration has no effective section `status`.
pub(in crate::engine) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    if engine.config().plugins.status.is_none() {
        return Err(errors::status_disabled());
    }
    let body = Value::object([(
        "result",
        engine.plugins().report(engine.config().labels().clone()),
    )]);
    Ok(Reply::document(
        StatusCode::OK,
        &body,
        request.flag("pretty"),
    ))
}
