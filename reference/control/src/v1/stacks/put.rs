//! PUT /v1/stacks/{stack}

use crate::Control;
use crate::model::{self, Stack};
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Creates a stack, or replaces its whole definition.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let stack = model::read::<Stack>(name, &request.body)?;
    control.store.put(principal, &stack).await?;
    Ok(answer::done(request))
}
