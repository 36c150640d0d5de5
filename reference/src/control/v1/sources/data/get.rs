//! GET /v1/sources/{source}/data/{path}

use super::place;
use crate::control::Control;
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Returns the document at a path, as it was written; 404 when it does not exist.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let (source, path) = place(request)?;
    let document = control.store.document(principal, source, &path).await?;
    Ok(answer::one(&document, request))
}
