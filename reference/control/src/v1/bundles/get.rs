//! GET /v1/bundles/{bundle}

use crate::Control;
use crate::model::Kind;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Returns the definition of a bundle; 404 also for one that the caller may not see.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let bundle = control.store.get(principal, Kind::Bundle, name).await?;
    Ok(answer::one(&bundle, request))
}
