//! DELETE /v1/sources/{source}

use crate::control::Control;
use crate::control::model::Kind;
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Deletes a source and its data.
///
/// Serves the `source-` clauses of `control/common/usage`: 409 `conflict` while a bundle, a stack
/// or another source requires the source.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.delete(principal, Kind::Source, name).await?;
    control.metrics.forget(Kind::Source, name);
    Ok(answer::done(request))
}
