//! GET /v1/bundles/{bundle}/status/latest

use crate::principal::Principal;
use crate::v1::answer;
use crate::{Control, errors};
use http_server::{ApiError, Reply, Request};

/// Returns the status of the last build of a bundle; 404 before the first.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let mut statuses = control.store.statuses(principal, name, None, 1).await?;
    match statuses.pop() {
        Some(status) => Ok(answer::one(&status.to_string(), request)),
        None => Err(errors::never_built(name)),
    }
}
