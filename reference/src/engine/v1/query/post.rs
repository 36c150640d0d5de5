//! POST /v1/query

use crate::engine::v1::without_policies;
use crate::engine::{Engine, body};
use crate::http::{ApiError, Reply, Request};

/// Answers an ad hoc query: not supported.
///
/// # Errors
/// `invalid_parameter` when the body is no object with a string `query`, `internal_error`
/// otherwise.
pub(in crate::engine) fn handle(_engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    body::string(&body::object(request)?, "query")?;
    Err(without_policies("a query"))
}
