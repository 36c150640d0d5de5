//! Storages of cloud providers in a build without the feature `clouds`: none.

use bytes::Bytes;

use super::{AllowedStorages, Identity, StorageError, StoredObject};
use crate::model::{ObjectStorage, Secret};

/// Object of a storage, which this build cannot have.
#[derive(Debug, Clone)]
pub(crate) enum Object {}

/// Refuses a definition that names a provider; returns `None` for others.
///
/// # Errors
/// `Config` when the definition names a provider.
pub(super) fn open(
    storage: &ObjectStorage,
    _: Option<(&str, &Secret)>,
    _: &AllowedStorages,
) -> Result<Option<Object>, StorageError> {
    match storage.aws.is_some() || storage.gcp.is_some() || storage.azure.is_some() {
        true => Err(StorageError::config(
            "this build does not support storages of cloud providers (feature `clouds`)",
        )),
        false => Ok(None),
    }
}

impl Object {
    pub(super) async fn compare(
        &self,
        _: &[u8],
        _: Option<&Identity>,
    ) -> Result<StoredObject, StorageError> {
        match *self {}
    }

    pub(super) async fn contains(&self, _: &Identity) -> Result<bool, StorageError> {
        match *self {}
    }

    pub(super) async fn write(
        &self,
        _: &Bytes,
        _: &StoredObject,
    ) -> Result<Option<Identity>, StorageError> {
        match *self {}
    }
}
