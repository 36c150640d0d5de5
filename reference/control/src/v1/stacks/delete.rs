//! DELETE /v1/stacks/{stack}

use crate::Control;
use crate::model::Kind;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Deletes a stack.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.delete(principal, Kind::Stack, name).await?;
    Ok(answer::done(request))
}
