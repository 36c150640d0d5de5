//! PUT /v1/sources/{source}/data/{path}

use super::place;
use crate::control::Control;
use crate::control::model::Document;
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Stores any JSON document at a path.
pub(in crate::control) async fn handle(
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
