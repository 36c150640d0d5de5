//! GET /v1/bundles/{bundle}/status

use serde_json::Value;

use crate::Control;
use crate::page::limit_of;
use crate::principal::Principal;
use crate::store::MAX_STATUSES;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Returns the statuses of the last builds of a bundle, newest first, one for each revision;
/// `revision` selects one, `limit` limits the list.
pub(crate) async fn handle(
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
