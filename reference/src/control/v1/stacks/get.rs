//! GET /v1/stacks/{stack}

use crate::control::Control;
use crate::control::model::Kind;
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Returns the definition of a stack; 404 also for one that the caller may not see.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let stack = control.store.get(principal, Kind::Stack, name).await?;
    Ok(answer::one(&stack, request))
}
