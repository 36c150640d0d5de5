//! GET /v1/policies

use http::StatusCode;
use rego::Value;

use super::to_json;
use crate::Engine;
use http_server::{ApiError, Reply, Request};

/// Lists the policies in the order in which they were created.
///
/// # Errors
/// None.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let state = engine.state();
    let modules = state.contents().policy.modules().map(to_json);
    let body = Value::object([("result", Value::from(modules.collect::<Vec<_>>()))]);
    Ok(Reply::document(
        StatusCode::OK,
        &body,
        request.flag("pretty"),
    ))
}
