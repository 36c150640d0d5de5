//! GET /v1/secrets/{secret}

use crate::Control;
use crate::model::Kind;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Returns the name of a secret, never its value; 404 also for one that the caller may not see.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.get(principal, Kind::Secret, name).await?;
    Ok(answer::one(&answer::string(name), request))
}
