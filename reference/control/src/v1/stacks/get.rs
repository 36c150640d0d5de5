//! GET /v1/stacks/{stack}

use crate::Control;
use crate::model::Kind;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Returns the definition of a stack; 404 also for one that the caller may not see.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let stack = control.store.get(principal, Kind::Stack, name).await?;
    Ok(answer::one(&stack, request))
}
