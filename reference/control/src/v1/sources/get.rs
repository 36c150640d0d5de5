//! GET /v1/sources/{source}

use crate::Control;
use crate::model::Kind;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Returns the definition of a source; 404 also for one that the caller may not see.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let source = control.store.get(principal, Kind::Source, name).await?;
    Ok(answer::one(&source, request))
}
