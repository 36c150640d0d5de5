//! DELETE /v1/policies/{id}

use super::unknown;
use crate::engine::Engine;
use crate::http::{ApiError, Reply, Request};

/// Removes a policy: there are none.
///
/// # Errors
/// `resource_not_found` always.
pub(in crate::engine) fn handle(_engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    Err(unknown(request))
}
