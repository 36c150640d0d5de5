//! Conditional writes to object storage.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutResult, UpdateVersion};

use super::super::{Identity, StorageError, StoredObject};
use super::error_context::{self, Operation};
use crate::storage_client::REQUEST_TIMEOUT;

/// Timeout of metadata requests, and of the start of a response.
const HEAD_TIMEOUT: Duration = Duration::from_secs(20);

/// Object of a storage.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// Storage client.
    pub(super) store: Arc<dyn ObjectStore>,
    /// Path of the object.
    pub(super) path: Path,
    /// Kind of precondition for writes.
    pub(super) condition: Condition,
}

/// Kind of precondition for writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// ETag of the object to replace.
    ETag,
    /// Generation of the object to replace.
    Generation,
}

impl Object {
    /// Compares the stored object with an archive. Its metadata suffices if it matches the identity
    /// recorded for the archive; otherwise the whole object is read.
    ///
    /// # Errors
    /// `Push` when the storage does not respond, or fails.
    pub(in crate::storage) async fn compare(
        &self,
        archive: &[u8],
        known: Option<&Identity>,
    ) -> Result<StoredObject, StorageError> {
        let found = match with_timeout(HEAD_TIMEOUT, self.store.head(&self.path)).await? {
            Ok(found) => Identity::of(&found),
            Err(failure) => return interpret_error(&failure),
        };
        if found.size != archive.len() as u64 {
            return Ok(StoredObject::Other(found));
        }
        if known.is_some_and(|known| known.matches(&found)) {
            return Ok(StoredObject::Same(found));
        }
        // An interrupted response is resumed, which is included in the timeout.
        with_timeout(REQUEST_TIMEOUT, self.read_and_compare(archive)).await?
    }

    /// Reads the whole object and compares it with an archive.
    async fn read_and_compare(&self, archive: &[u8]) -> Result<StoredObject, StorageError> {
        let result = match with_timeout(HEAD_TIMEOUT, self.store.get(&self.path)).await? {
            Ok(result) => result,
            Err(failure) => return interpret_error(&failure),
        };
        let found = Identity::of(&result.meta);
        let mut remaining = archive;
        let mut parts = result.into_stream();
        loop {
            match parts.try_next().await {
                Ok(Some(part)) => match remaining.strip_prefix(part.as_ref()) {
                    Some(rest) => remaining = rest,
                    None => return Ok(StoredObject::Other(found)),
                },
                Ok(None) if remaining.is_empty() => return Ok(StoredObject::Same(found)),
                Ok(None) => return Ok(StoredObject::Other(found)),
                Err(failure) => return Err(read_error(&failure)),
            }
        }
    }

    /// Whether the metadata of the stored object matches a recorded identity.
    ///
    /// # Errors
    /// `Push` when the storage does not report the metadata.
    pub(in crate::storage) async fn contains(
        &self,
        known: &Identity,
    ) -> Result<bool, StorageError> {
        let found = with_timeout(HEAD_TIMEOUT, self.store.head(&self.path)).await?;
        found
            .map(|found| known.matches(&Identity::of(&found)))
            .map_err(|failure| read_error(&failure))
    }

    /// Replaces the object seen before: the storage refuses it if another object is there by now,
    /// and the result is `None`. A storage without conditional writes replaces anything.
    ///
    /// # Errors
    /// `Push` when the storage refuses it for other reasons, or does not respond.
    pub(in crate::storage) async fn write(
        &self,
        archive: &Bytes,
        seen: &StoredObject,
    ) -> Result<Option<Identity>, StorageError> {
        let conditional = match self.mode(seen) {
            PutMode::Overwrite => None,
            mode => Some(self.put(archive, mode).await),
        };
        let put = match conditional {
            None => self.put(archive, PutMode::Overwrite).await,
            Some(Err(Error::Precondition { .. } | Error::AlreadyExists { .. })) => return Ok(None),
            Some(Err(failure)) if error_context::is_unsupported(&failure) => {
                self.put(archive, PutMode::Overwrite).await
            }
            Some(put) => put,
        };
        match put {
            Ok(put) => Ok(Some(Identity::of_written(put, archive.len()))),
            Err(failure) => {
                let message = error_context::explain(&failure, Operation::Write);
                Err(StorageError::Push(message))
            }
        }
    }

    async fn put(&self, archive: &Bytes, mode: PutMode) -> Result<PutResult, Error> {
        let payload = archive.clone().into();
        self.store.put_opts(&self.path, payload, mode.into()).await
    }

    /// Returns the precondition of a write.
    fn mode(&self, seen: &StoredObject) -> PutMode {
        match seen {
            StoredObject::Nothing => PutMode::Create,
            StoredObject::Unknown => PutMode::Overwrite,
            StoredObject::Same(found) | StoredObject::Other(found) => {
                let named = match self.condition {
                    // A weak ETag only promises semantic equality.
                    Condition::ETag => found.e_tag.as_ref().filter(|tag| !tag.starts_with("W/")),
                    Condition::Generation => found.version.as_ref(),
                };
                match named {
                    None => PutMode::Overwrite,
                    Some(_) => PutMode::Update(UpdateVersion {
                        e_tag: found.e_tag.clone(),
                        version: found.version.clone(),
                    }),
                }
            }
        }
    }
}

/// Interprets an error of a metadata or read request.
fn interpret_error(failure: &Error) -> Result<StoredObject, StorageError> {
    match failure {
        Error::NotFound { .. } => Ok(StoredObject::Nothing),
        // Credentials may only permit writes, and some storages also respond like this for missing
        // objects. Others send invalid metadata, or do not support the request.
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Ok(StoredObject::Unknown),
        failure
            if error_context::is_unsupported(failure)
                || error_context::has_unusable_metadata(failure) =>
        {
            Ok(StoredObject::Unknown)
        }
        failure => Err(read_error(failure)),
    }
}

fn read_error(failure: &Error) -> StorageError {
    StorageError::Push(error_context::explain(failure, Operation::Read))
}

/// Awaits a response, if it arrives in time.
async fn with_timeout<T>(
    time: Duration,
    operation: impl Future<Output = T>,
) -> Result<T, StorageError> {
    let result = tokio::time::timeout(time, operation).await;
    result.map_err(|_| {
        let seconds = time.as_secs();
        StorageError::Push(format!("the storage does not answer within {seconds} s"))
    })
}
