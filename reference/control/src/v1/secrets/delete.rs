//! DELETE /v1/secrets/{secret}

use crate::Control;
use crate::model::Kind;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Deletes a secret.
///
/// Serves the `secret-` clauses of `control/common/usage`: 409 `conflict` while a repository, a
/// datasource or an object storage names it.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.delete(principal, Kind::Secret, name).await?;
    Ok(answer::done(request))
}
