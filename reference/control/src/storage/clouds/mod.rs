//! Storages of cloud providers.

mod aws;
mod azure;
mod error_context;
mod gcp;
mod host;
mod identity;
mod object;

use object_store::path::Path;
use reqwest::Url;
use serde::de::DeserializeOwned;

pub(super) use self::object::Object;

use self::object::Condition;
use super::{AllowedStorages, StorageError};
use crate::model::{ObjectStorage, Secret};
use crate::secret_allowlist::SecretAllowlist;
use crate::storage_client::is_plain;

/// Opens the object of a definition; `None` if it names no provider.
///
/// # Errors
/// `Config` when the definition cannot be used or is not allowed.
pub(super) fn open(
    storage: &ObjectStorage,
    secret: Option<(&str, &Secret)>,
    destinations: &AllowedStorages,
) -> Result<Option<Object>, StorageError> {
    let (store, path, condition) = if let Some(aws) = &storage.aws {
        let store = aws::open(aws, secret, destinations)?;
        (store, &aws.key, Condition::ETag)
    } else if let Some(gcp) = &storage.gcp {
        let store = gcp::open(gcp, secret, destinations)?;
        (store, &gcp.object, Condition::Generation)
    } else if let Some(azure) = &storage.azure {
        let store = azure::open(azure, secret, destinations)?;
        (store, &azure.path, Condition::ETag)
    } else {
        return Ok(None);
    };
    let path = match Path::parse(path) {
        Ok(path) if !path.is_root() => path,
        _ => {
            let message = format!("`{path}` cannot be the name of an object");
            return Err(StorageError::Config(message));
        }
    };
    Ok(Some(Object {
        store,
        path,
        condition,
    }))
}

/// Checks whether a secret may be sent to the host of a URL.
fn check_secret_host(
    secret: Option<(&str, &Secret)>,
    url: &Url,
    destinations: &AllowedStorages,
) -> Result<(), StorageError> {
    let Some((name, secret)) = secret else {
        return Ok(());
    };
    let guard = SecretAllowlist::of(name, secret, destinations.secrets_over_http);
    let checked = guard.and_then(|guard| guard.check_url(url));
    checked.map_err(StorageError::Config)
}

/// Parses the credentials of a secret, which must have a type.
fn credentials<T: DeserializeOwned>(
    (name, secret): (&str, &Secret),
    kind: &str,
) -> Result<T, StorageError> {
    // No part of the secret may be shown, so the parser's error is dropped.
    let invalid = || {
        let message = format!("invalid secret `{name}`: expected type {kind}");
        StorageError::Config(message)
    };
    let value: serde_json::Value =
        serde_json::from_slice(secret.expose()).map_err(|_| invalid())?;
    let actual_kind = value.get("type").and_then(serde_json::Value::as_str);
    if actual_kind != Some(kind) {
        return Err(invalid());
    }
    T::deserialize(value).map_err(|_| invalid())
}

/// Refuses a name that could change the host or path of the URL built from it.
fn check_name(name: &str, what: &str) -> Result<(), StorageError> {
    if is_plain(name) {
        Ok(())
    } else {
        let message = format!("`{name}` cannot be the name of a {what}");
        Err(StorageError::Config(message))
    }
}
