//! GET /v1/secrets

use crate::control::Control;
use crate::control::model::Kind;
use crate::control::page::Page;
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Returns a page of the names of the secrets that the caller may see.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let page = Page::read(Kind::Secret, request)?;
    let (rows, more) = control.store.list(principal, Kind::Secret, page).await?;
    Ok(answer::list(Kind::Secret, &rows, more, request))
}
