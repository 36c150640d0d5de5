//! GET /v1/status

use crate::engine::Engine;
use crate::http::{ApiError, Code, Reply, Request};

/// Shows the status of the instance: not supported.
///
/// # Errors
/// `internal_error` always.
pub(in crate::engine) fn handle(_engine: &Engine, _request: &Request) -> Result<Reply, ApiError> {
    let message = "the status plugin is not enabled";
    Err(ApiError::new(Code::InternalError, message))
}
