//! Destinations: where bundles are written to.
//!
//! A write replaces the object as a whole: whoever reads sees the old bundle or the new one.
//! What definitions say of a destination is checked before it is reached: a file lies below a
//! folder that the operator names, a server is one of the providers' or one that the operator
//! allows, and the credentials are those of the named secret, never the machine's own.

mod aws;
mod azure;
mod explain;
mod filesystem;
mod gcp;
mod host;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use reqwest::Url;
use serde::de::DeserializeOwned;

pub(crate) use self::filesystem::Target;
use super::guard::Guard;
use super::model::{ObjectStorage, Secret};
use super::storage::is_plain;

/// What destinations may be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach {
    /// Folders below which files may be written; a path that is not absolute is below the first.
    pub(crate) roots: Vec<PathBuf>,
    /// Patterns, of `HOST` or `HOST:PORT`, of what a custom URL may name.
    pub(crate) hosts: Vec<String>,
    /// Whether secrets may be sent over plain http.
    pub(crate) secrets_over_http: bool,
}

/// Why a bundle cannot be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DestinationError {
    /// The definition, its secret or the operator does not allow it.
    #[error("{0}")]
    Config(String),
    /// The storage refused it or does not answer.
    #[error("{0}")]
    Push(String),
}

impl DestinationError {
    fn config(message: impl Into<String>) -> Self {
        Self::Config(message.into())
    }
}

/// Where a bundle is written to.
#[derive(Debug)]
pub(crate) enum Destination {
    /// An object of a storage.
    Object {
        /// The storage.
        store: Arc<dyn ObjectStore>,
        /// The place in it.
        path: Path,
    },
    /// A file.
    File(Target),
}

impl Destination {
    /// The destination that a definition names; `secrets` holds at least the one it names.
    ///
    /// # Errors
    /// `Config` when the definition cannot be used or is not allowed.
    pub(crate) fn open(
        storage: &ObjectStorage,
        secrets: &BTreeMap<String, Secret>,
        reach: &Reach,
    ) -> Result<Self, DestinationError> {
        let secret = match storage.credentials().filter(|name| !name.is_empty()) {
            None => None,
            Some(name) => match secrets.get(name) {
                Some(secret) => Some((name, secret)),
                None => {
                    let message = format!("secret `{name}` does not exist");
                    return Err(DestinationError::Config(message));
                }
            },
        };
        let (store, path) = if let Some(aws) = &storage.aws {
            (aws::open(aws, secret, reach)?, &aws.key)
        } else if let Some(gcp) = &storage.gcp {
            (gcp::open(gcp, secret, reach)?, &gcp.object)
        } else if let Some(azure) = &storage.azure {
            (azure::open(azure, secret, reach)?, &azure.path)
        } else if let Some(filesystem) = &storage.filesystem {
            let target = Target::new(&filesystem.path, &reach.roots)?;
            return Ok(Self::File(target));
        } else {
            return Err(DestinationError::config("object_storage names no storage"));
        };
        let path = match Path::parse(path) {
            Ok(path) if !path.is_root() => path,
            _ => {
                let message = format!("`{path}` cannot be the name of an object");
                return Err(DestinationError::Config(message));
            }
        };
        Ok(Self::Object { store, path })
    }

    /// Replaces what is there. If this is dropped before it ends, nothing or everything of it
    /// has happened.
    ///
    /// # Errors
    /// When the storage refuses it, cannot be reached, or takes too long.
    pub(crate) async fn write(&self, bytes: Vec<u8>) -> Result<(), DestinationError> {
        match self {
            Self::File(target) => target.write(&bytes).await,
            Self::Object { store, path } => match store.put(path, bytes.into()).await {
                Ok(_) => Ok(()),
                Err(failure) => Err(DestinationError::Push(explain::explain(&failure))),
            },
        }
    }

    /// Whether there is something of that many bytes; when that cannot be told, not.
    pub(crate) async fn holds(&self, bytes: u64) -> bool {
        match self {
            Self::File(target) => target.holds(bytes),
            Self::Object { store, path } => {
                let found = store.head(path).await;
                found.is_ok_and(|found| found.size == bytes)
            }
        }
    }
}

/// Judges whether a secret may be sent to where a URL leads.
fn guarded(
    secret: Option<(&str, &Secret)>,
    url: &Url,
    reach: &Reach,
) -> Result<(), DestinationError> {
    let Some((name, secret)) = secret else {
        return Ok(());
    };
    let guard = Guard::of(name, secret, reach.secrets_over_http);
    let checked = guard.and_then(|guard| guard.check_url(url));
    checked.map_err(DestinationError::Config)
}

/// The credentials of a secret, which must be of a type.
fn credentials<T: DeserializeOwned>(
    (name, secret): (&str, &Secret),
    kind: &str,
) -> Result<T, DestinationError> {
    // Nothing of the secret may show, so neither may what the parser says of it.
    let unfit = || {
        let message = format!("secret `{name}` is no usable {kind}");
        DestinationError::Config(message)
    };
    let value: serde_json::Value = serde_json::from_slice(secret.expose()).map_err(|_| unfit())?;
    let given = value.get("type").and_then(serde_json::Value::as_str);
    if given != Some(kind) {
        return Err(unfit());
    }
    T::deserialize(value).map_err(|_| unfit())
}

/// Refuses a name that could lead the URL made of it elsewhere.
fn plain(name: &str, what: &str) -> Result<(), DestinationError> {
    if is_plain(name) {
        Ok(())
    } else {
        let message = format!("`{name}` cannot be the name of a {what}");
        Err(DestinationError::Config(message))
    }
}
