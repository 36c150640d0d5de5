//! PUT /v1/secrets/{secret}

use crate::control::Control;
use crate::control::model::{Entry, Secret};
use crate::control::principal::Principal;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Creates a secret, or replaces its value. What is stored is sealed.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let given = Secret::read(name, &request.body)?;
    let sealed = control.cipher.seal(name, &given.secret.stored())?;
    let entry = Entry::secret(name, sealed, given.shared);
    control.store.put(principal, &entry).await?;
    Ok(answer::done(request))
}
