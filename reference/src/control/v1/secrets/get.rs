//! GET /v1/secrets/{secret}

use crate::control::Control;
use crate::control::model::Kind;
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Returns the name of a secret, never its value; 404 also for one that the caller may not see.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.get(principal, Kind::Secret, name).await?;
    Ok(answer::one(&answer::string(name), request))
}
