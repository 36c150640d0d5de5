//! DELETE /v1/sources/{source}

use crate::Control;
use crate::model::Kind;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Deletes a source and its data.
///
/// Serves the `source-` clauses of `control/common/usage`: 409 `conflict` while a bundle, a stack
/// or another source requires it.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.delete(principal, Kind::Source, name).await?;
    control.metrics.forget(Kind::Source, name);
    Ok(answer::done(request))
}
