//! PUT /v1/secrets/{secret}

use crate::control::Control;
use crate::control::model::{Entry, Secret};
use crate::control::principal::Principal;
use crate::control::store::StoreError;
use crate::control::v1::answer;
use crate::http::{ApiError, Reply, Request};

/// Creates a secret, or replaces its value. The value is stored encrypted.
pub(in crate::control) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let given = Secret::read(name, &request.body)?;
    let entry = || -> Result<Entry, ApiError> {
        let sealed = control.cipher.seal(name, &given.secret.to_bytes())?;
        Ok(Entry::secret(name, sealed, given.shared))
    };
    match control.store.put(principal, &entry()?).await {
        Err(StoreError::KeyRotated) => {
            control.follow_rotation().await?;
            control.store.put(principal, &entry()?).await?;
        }
        stored => stored?,
    }
    Ok(answer::done(request))
}
