//! DELETE /v1/stacks/{stack}

use crate::control::Control;
use crate::control::model::Kind;
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Deletes a stack.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.delete(principal, Kind::Stack, name).await?;
    Ok(answer::done(request))
}
