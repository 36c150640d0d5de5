//! Destinations that bundles are written to.
//!
//! A write replaces the object as a whole: readers see the old bundle or the new one. It replaces
//! the version that was seen before, and nothing newer, so that a replica that stalled in the
//! middle of its write does no harm: storages get a precondition, and a staged file is removed once
//! another replica has the bundle. The destination of a definition is checked before it is
//! accessed: a file must be below a folder that the operator configures, a server must be one of
//! the providers' or one that the operator allows, and the credentials are those of the named
//! secret, never the machine's own.

#[cfg(feature = "clouds")]
mod clouds;
#[cfg(not(feature = "clouds"))]
#[path = "no_clouds.rs"]
mod clouds;
mod filesystem;
mod stored_object;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use bytes::Bytes;

use self::clouds::Object;
use self::filesystem::Partial;
pub(crate) use self::filesystem::TargetFile;
pub(crate) use self::stored_object::{Identity, StoredObject};
use super::model::{ObjectStorage, Secret};

/// Allowed destinations.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllowedStorages {
    /// Folders below which files may be written; a relative path is below the first.
    pub(crate) roots: Vec<PathBuf>,
    /// Patterns `HOST` or `HOST:PORT` for the hosts of custom URLs.
    pub(crate) hosts: Vec<String>,
    /// Whether secrets may be sent over plain http.
    pub(crate) secrets_over_http: bool,
}

/// Reason why a bundle cannot be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StorageError {
    /// The definition, its secret or the operator does not allow it.
    #[error("{0}")]
    Config(String),
    /// The storage refused it or does not respond.
    #[error("{0}")]
    Push(String),
}

impl StorageError {
    fn config(message: impl Into<String>) -> Self {
        Self::Config(message.into())
    }
}

/// Storage of a bundle.
#[derive(Debug)]
pub(crate) enum Storage {
    /// Object of a storage.
    Object(Object),
    /// File below a folder of the operator.
    File(TargetFile),
}

/// Bundle prepared for a write. Dropping it removes the staged file.
#[derive(Debug)]
pub(crate) struct Staged {
    archive: Bytes,
    recipient: Recipient,
}

#[derive(Debug)]
enum Recipient {
    Object(Object),
    File(TargetFile, Partial),
}

impl Storage {
    /// Opens the destination of a definition; `secrets` contains at least its credentials.
    ///
    /// # Errors
    /// `Config` when the definition cannot be used or is not allowed.
    pub(crate) fn open(
        storage: &ObjectStorage,
        secrets: &BTreeMap<String, Secret>,
        destinations: &AllowedStorages,
    ) -> Result<Self, StorageError> {
        let secret = match storage.credentials().filter(|name| !name.is_empty()) {
            None => None,
            Some(name) => match secrets.get(name) {
                Some(secret) => Some((name, secret)),
                None => {
                    let message = format!("secret `{name}` does not exist");
                    return Err(StorageError::Config(message));
                }
            },
        };
        if let Some(filesystem) = &storage.filesystem {
            let target = TargetFile::new(&filesystem.path, &destinations.roots)?;
            return Ok(Self::File(target));
        }
        match clouds::open(storage, secret, destinations)? {
            Some(object) => Ok(Self::Object(object)),
            None => Err(StorageError::config("object_storage names no storage")),
        }
    }

    /// Compares the stored object with an archive. An object whose metadata matches the recorded
    /// identity is not read.
    ///
    /// # Errors
    /// When the path is not allowed, or the storage does not respond.
    pub(crate) async fn compare(
        &self,
        archive: &Bytes,
        known: Option<&Identity>,
    ) -> Result<StoredObject, StorageError> {
        match self {
            Self::Object(object) => object.compare(archive, known).await,
            Self::File(target) => {
                let (target, archive) = (target.clone(), archive.clone());
                blocking(move || target.compare(&archive)).await
            }
        }
    }

    /// Whether a written archive is still there, by its digest and recorded identity. `false` when
    /// this is unknown.
    pub(crate) async fn contains(&self, digest: &str, known: &Identity) -> bool {
        let contains = match self {
            Self::Object(object) => object.contains(known).await,
            Self::File(target) => {
                let (target, digest) = (target.clone(), digest.to_owned());
                blocking(move || target.contains(&digest)).await
            }
        };
        contains.unwrap_or(false)
    }

    /// Prepares a write as far as possible without making it visible: a file is complete on the
    /// disk then. After this and before placing it, the caller must check that it still owns the
    /// bundle.
    ///
    /// # Errors
    /// When the path is not allowed, or the disk refuses the write.
    pub(crate) async fn stage(&self, archive: &Bytes) -> Result<Staged, StorageError> {
        let recipient = match self {
            Self::Object(object) => Recipient::Object(object.clone()),
            Self::File(target) => {
                let (target, archive) = (target.clone(), archive.clone());
                let staged = blocking(move || {
                    let partial = target.stage(&archive)?;
                    Ok(Recipient::File(target, partial))
                });
                staged.await?
            }
        };
        let archive = archive.clone();
        Ok(Staged { archive, recipient })
    }
}

impl Staged {
    /// Replaces the object seen before; `None`, and nothing is replaced, when there is a newer one.
    /// If this future is dropped, the write has happened completely or not at all, or a storage
    /// completes it later, subject to its precondition.
    ///
    /// # Errors
    /// When the storage refuses it, cannot be reached, or takes too long.
    pub(crate) async fn place(self, seen: &StoredObject) -> Result<Option<Identity>, StorageError> {
        let Self { archive, recipient } = self;
        match recipient {
            Recipient::Object(object) => object.write(&archive, seen).await,
            Recipient::File(target, partial) => {
                let placed = blocking(move || target.place(partial)).await?;
                Ok(placed.then(Identity::default))
            }
        }
    }
}

/// Runs file system work on a blocking thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.unwrap_or_else(|failure| Err(StorageError::Push(failure.to_string())))
}
