//! DELETE /v1/secrets/{secret}

use crate::control::Control;
use crate::control::model::Kind;
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Deletes a secret.
///
/// Serves the `secret-` clauses of `control/common/usage`: 409 `conflict` while a repository, a
/// datasource or an object storage references the secret.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    control.store.delete(principal, Kind::Secret, name).await?;
    Ok(answer::done(request))
}
