//! PUT /v1/sources/{source}

use crate::control::Control;
use crate::control::model::{self, Source};
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Creates a source, or replaces its whole definition.
pub(in crate::control) async fn handle(
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
