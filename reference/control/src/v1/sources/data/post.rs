//! POST /v1/sources/{source}/data/{path}

use super::put;
use crate::Control;
use crate::principal::Principal;
use http_server::{ApiError, Reply, Request};

/// Stores any JSON document at a path, as PUT does.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    put::handle(control, principal, request).await
}
