//! DELETE /v1/bundles/{bundle}

use crate::control::Control;
use crate::control::model::Kind;
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Deletes a bundle.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.delete(principal, Kind::Bundle, name).await?;
    control.metrics.forget(Kind::Bundle, name);
    Ok(answer::done(request))
}
