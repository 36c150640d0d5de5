//! Destinations: where bundles are written to.
//!
//! A write replaces the object as a whole: whoever reads sees the old bundle or the new one. It
//! replaces what was seen there before, and nothing newer, so that a replica that stood still in
//! the middle of its write does no harm: storages are told what they may replace, and of a file
//! that is not yet in its place nothing is left once another replica has the bundle.
//! What definitions say of a destination is checked before it is reached: a file lies below a
//! folder that the operator names, a server is one of the providers' or one that the operator
//! allows, and the credentials are those of the named secret, never the machine's own.

mod aws;
mod azure;
mod error_context;
mod filesystem;
mod gcp;
mod host;
mod object_store;
mod stored_object;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ::object_store::path::Path;
use bytes::Bytes;
use reqwest::Url;
use serde::de::DeserializeOwned;

use self::filesystem::Partial;
pub(crate) use self::filesystem::Target;
use self::object_store::{Condition, Object};
pub(crate) use self::stored_object::{Identity, StoredObject};
use super::model::{ObjectStorage, Secret};
use super::secret_allowlist::SecretAllowlist;
use super::storage::is_plain;

/// What destinations may be.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllowedDestinations {
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
    Object(Object),
    /// A file.
    File(Target),
}

/// A bundle on its way to its place. Goes away when dropped.
#[derive(Debug)]
pub(crate) struct Staged {
    archive: Bytes,
    to: To,
}

#[derive(Debug)]
enum To {
    Object(Object),
    File(Target, Partial),
}

impl Destination {
    /// The destination that a definition names; `secrets` holds at least the one it names.
    ///
    /// # Errors
    /// `Config` when the definition cannot be used or is not allowed.
    pub(crate) fn open(
        storage: &ObjectStorage,
        secrets: &BTreeMap<String, Secret>,
        destinations: &AllowedDestinations,
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
        let (store, path, condition) = if let Some(aws) = &storage.aws {
            (
                aws::open(aws, secret, destinations)?,
                &aws.key,
                Condition::ETag,
            )
        } else if let Some(gcp) = &storage.gcp {
            let store = gcp::open(gcp, secret, destinations)?;
            (store, &gcp.object, Condition::Generation)
        } else if let Some(azure) = &storage.azure {
            let store = azure::open(azure, secret, destinations)?;
            (store, &azure.path, Condition::ETag)
        } else if let Some(filesystem) = &storage.filesystem {
            let target = Target::new(&filesystem.path, &destinations.roots)?;
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
        Ok(Self::Object(Object {
            store,
            path,
            condition,
        }))
    }

    /// Compares what is there with an archive. Of an object that the storage says the same of as
    /// it said of the archive, no more is read.
    ///
    /// # Errors
    /// When the definition leads elsewhere, or the storage does not answer.
    pub(crate) async fn compare(
        &self,
        archive: &Bytes,
        known: Option<&Identity>,
    ) -> Result<StoredObject, DestinationError> {
        match self {
            Self::Object(object) => object.compare(archive, known).await,
            Self::File(target) => {
                let (target, archive) = (target.clone(), archive.clone());
                blocking(move || target.compare(&archive)).await
            }
        }
    }

    /// Whether an archive that was written is still there, by its digest and what the storage said
    /// of it. What cannot be told is no.
    pub(crate) async fn holds(&self, digest: &str, known: &Identity) -> bool {
        let held = match self {
            Self::Object(object) => object.holds(known).await,
            Self::File(target) => {
                let (target, digest) = (target.clone(), digest.to_owned());
                blocking(move || target.holds(&digest)).await
            }
        };
        held.unwrap_or(false)
    }

    /// Does what can be done of a write before it is seen: a file is complete on the disk then.
    /// Whoever writes has to make sure after this, and before it is put in its place, that the
    /// bundle is still his.
    ///
    /// # Errors
    /// When the definition leads elsewhere, or the disk does not take it.
    pub(crate) async fn stage(&self, archive: &Bytes) -> Result<Staged, DestinationError> {
        let to = match self {
            Self::Object(object) => To::Object(object.clone()),
            Self::File(target) => {
                let (target, archive) = (target.clone(), archive.clone());
                let staged = blocking(move || {
                    let partial = target.stage(&archive)?;
                    Ok(To::File(target, partial))
                });
                staged.await?
            }
        };
        let archive = archive.clone();
        Ok(Staged { archive, to })
    }
}

impl Staged {
    /// Replaces what was seen there; `None`, and nothing is replaced, when there is something
    /// newer. If this is dropped before it ends, nothing or everything of it has happened, or a
    /// storage does it later, as far as its condition holds then.
    ///
    /// # Errors
    /// When the storage refuses it, cannot be reached, or takes too long.
    pub(crate) async fn place(
        self,
        seen: &StoredObject,
    ) -> Result<Option<Identity>, DestinationError> {
        let Self { archive, to } = self;
        match to {
            To::Object(object) => object.write(&archive, seen).await,
            To::File(target, partial) => {
                let placed = blocking(move || target.place(partial)).await?;
                Ok(placed.then(Identity::default))
            }
        }
    }
}

/// Does what waits for a disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DestinationError> + Send + 'static,
) -> Result<T, DestinationError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|failure| Err(DestinationError::Push(failure.to_string())))
}

/// Judges whether a secret may be sent to where a URL leads.
fn guarded(
    secret: Option<(&str, &Secret)>,
    url: &Url,
    destinations: &AllowedDestinations,
) -> Result<(), DestinationError> {
    let Some((name, secret)) = secret else {
        return Ok(());
    };
    let guard = SecretAllowlist::of(name, secret, destinations.secrets_over_http);
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
        let message = format!("invalid secret `{name}`: expected type {kind}");
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
