//! DELETE /v1/bundles/{bundle}

use crate::Control;
use crate::model::Kind;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Deletes a bundle.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.delete(principal, Kind::Bundle, name).await?;
    control.metrics.forget(Kind::Bundle, name);
    Ok(answer::done(request))
}
