//! GET /v1/bundles/{bundle}/status/latest

use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::control::{Control, errors};
use crate::http::{ApiError, Reply, Request};

/// Returns the status of the last build of a bundle; 404 before the first.
pub(in crate::control) async fn handle(
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
