//! POST /v1/compile/{path}

use crate::engine::Engine;
use crate::engine::v1::without_policies;
use crate::http::{ApiError, Reply, Request};

/// Compiles a rule into a filter: not supported.
///
/// # Errors
/// `invalid_parameter` without the header `Accept`, `internal_error` otherwise.
pub(in crate::engine) fn handle(_engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    match request.header("accept") {
        Some(_) => Err(without_policies("a filter")),
        None => Err(ApiError::invalid_parameter("header `Accept` is missing")),
    }
}
