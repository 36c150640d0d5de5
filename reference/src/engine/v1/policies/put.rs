//! PUT /v1/policies/{id}

use crate::engine::Engine;
use crate::engine::v1::without_policies;
use crate::http::{ApiError, Reply, Request};

/// Takes a policy: not supported.
///
/// # Errors
/// `internal_error` always.
pub(in crate::engine) fn handle(_engine: &Engine, _request: &Request) -> Result<Reply, ApiError> {
    Err(without_policies("writing a policy"))
}
