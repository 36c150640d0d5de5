//! POST /v1/sources/{source}/data/{path}

use super::put;
use crate::control::Control;
use crate::control::principal::Principal;
use crate::http::{ApiError, Reply, Request};

/// Stores any JSON document at a path, as PUT does.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    put::handle(control, principal, request).await
}
