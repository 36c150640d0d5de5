//! PUT /v1/sources/{source}

use crate::Control;
use crate::model::{self, Source};
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Creates a source, or replaces its whole definition.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let source = model::read::<Source>(name, &request.body)?;
    let source = control.admit(principal, source).await?;
    control.store.put(principal, &source).await?;
    Ok(answer::done(request))
}
