//! PUT /v1/stacks/{stack}

use crate::control::Control;
use crate::control::model::{self, Stack};
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Creates a stack, or replaces its whole definition.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let stack = model::read::<Stack>(name, &request.body)?;
    control.store.put(principal, &stack).await?;
    Ok(answer::done(request))
}
