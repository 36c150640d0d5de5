//! PUT /v1/sources/{source}/data/{path}

use super::place;
use crate::Control;
use crate::model::Document;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Stores any JSON document at a path.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let (source, path) = place(request)?;
    let document = Document::read(&request.body)?;
    let stored = control
        .store
        .put_document(principal, source, &path, &document);
    stored.await?;
    Ok(answer::done(request))
}
