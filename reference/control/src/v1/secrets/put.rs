//! PUT /v1/secrets/{secret}

use crate::Control;
use crate::model::{Entry, Secret};
use crate::principal::Principal;
use crate::store::StoreError;
use crate::v1::answer;
use http_server::{ApiError, Reply, Request};

/// Creates a secret, or replaces its value. It is stored sealed.
pub(crate) async fn handle(
    control: &Control,
    principal: &Principal,
    request: &Request,
) -> Result<Reply, ApiError> {
    let name = answer::name(request)?;
    let parsed = Secret::read(name, &request.body)?;
    let entry = || -> Result<Entry, ApiError> {
        let sealed = control.cipher.seal(name, &parsed.secret.to_bytes())?;
        Ok(Entry::secret(name, sealed, parsed.shared))
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
