//! GET /v1/query

use crate::engine::Engine;
use crate::engine::v1::without_policies;
use crate::http::{ApiError, Reply, Request};

/// Answers an ad hoc query: not supported.
///
/// # Errors
/// `invalid_parameter` without the parameter `q`, `internal_error` otherwise.
pub(in crate::engine) fn handle(_engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    match request.last_parameter("q") {
        Some(_) => Err(without_policies("a query")),
        None => Err(ApiError::invalid_parameter("parameter `q` is missing")),
    }
}
