//! GET /v1/bundles/{bundle}/status

use serde_json::Value;

use crate::control::Control;
use crate::control::page::limit_of;
use crate::control::principal::Principal;
use crate::control::store::MAX_STATUSES;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Returns the statuses of the last builds of a bundle, newest first, one per revision. The
/// parameter `revision` selects a revision, `limit` limits the number of statuses.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let limit = limit_of(request, MAX_STATUSES)?;
    let revision = request.parameter("revision");
    let store = &control.store;
    let statuses = store.statuses(principal, name, revision, limit).await?;
    Ok(answer::one(&Value::Array(statuses).to_string(), request))
}
