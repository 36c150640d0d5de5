//! PUT /v1/bundles/{bundle}

use crate::Control;
use crate::model::{self, Bundle};
use crate::principal::Principal;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Creates a bundle, or replaces its whole definition.
pub(crate) async fn handle(
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
