//! GET /v1/policies/{id}

use http::StatusCode;
use rego::Value;

use super::{id, to_json};
use crate::{Engine, errors};
use http_server::{ApiError, Reply, Request};

/// Returns a policy.
///
/// # Errors
/// `resource_not_found` when no policy has the id.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let id = id(request);
    let state = engine.state();
    let module = state.contents().policy.module(&id);
    let module = module.ok_or_else(|| errors::no_policy(&id))?;
    let body = Value::object([("result", to_json(module))]);
    Ok(Reply::document(
        StatusCode::OK,
        &body,
        request.flag("pretty"),
    ))
}
