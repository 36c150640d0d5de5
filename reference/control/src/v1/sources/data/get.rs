//! GET /v1/sources/{source}/data/{path}

use super::place;
use crate::Control;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Returns the document at a path, as it was written; 404 when it does not exist.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let (source, path) = place(request)?;
    let document = control.store.document(principal, source, &path).await?;
    Ok(answer::one(&document, request))
}
