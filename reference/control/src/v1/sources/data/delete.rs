//! DELETE /v1/sources/{source}/data/{path}

use super::place;
use crate::Control;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Deletes the document at a path; 404 when it does not exist.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let (source, path) = place(request)?;
    control
        .store
        .delete_document(principal, source, &path)
        .await?;
    Ok(answer::done(request))
}
