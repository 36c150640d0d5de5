//! POST /v1/compile

use crate::engine::v1::without_policies;
use crate::engine::{Engine, body};
use crate::http::{ApiError, Reply, Request};

/// Evaluates a query partially: not supported.
///
/// # Errors
/// `invalid_parameter` when the body is not JSON or has no `query`, `internal_error` otherwise.
pub(in crate::engine) fn handle(_engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    match body::json(request)?.get("query") {
        Some(_) => Err(without_policies("partial evaluation")),
        None => Err(ApiError::invalid_parameter("`query` is missing")),
    }
}
