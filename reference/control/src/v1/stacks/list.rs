//! GET /v1/stacks

use crate::Control;
use crate::model::Kind;
use crate::page::Page;
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Returns a page of the stacks that the caller may see.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let page = Page::read(Kind::Stack, request)?;
    let (rows, more) = control.store.list(principal, Kind::Stack, page).await?;
    Ok(answer::list(Kind::Stack, &rows, more, request))
}
