//! GET /v1/status

use http::StatusCode;
use rego::Value;

use crate::{Engine, errors};
use http_server::{ApiError, Reply, Request};

/// Returns the state of the instance, if status reports are configured.
///
/// # Errors
/// `internal_error` when the configuration has no effective section `status`.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
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
