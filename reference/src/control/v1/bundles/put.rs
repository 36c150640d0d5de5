//! PUT /v1/bundles/{bundle}

use crate::control::Control;
use crate::control::model::{self, Bundle};
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Creates a bundle, or replaces its whole definition.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let bundle = model::read::<Bundle>(name, &request.body)?;
    let bundle = control.admit(principal, bundle).await?;
    control.store.put(principal, &bundle).await?;
    Ok(answer::done(request))
}
