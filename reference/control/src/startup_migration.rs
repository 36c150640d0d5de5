//! Migration of definitions that older versions stored.

use std::path::PathBuf;

use tracing::warn;

use super::model::Entry;
use super::principal::Keys;
use super::storage_location;
use super::store::{Store, StoreError};

/// Resolves the storage locations of declared and stored bundles, and records which stored
/// references their owners may use. Logs each reference to a definition that its owner may not see;
/// such references stay.
///
/// # Errors
/// When the database fails.
pub(super) async fn migrate(
    store: &Store,
    keys: &Keys,
    declared: &mut [Entry],
    roots: &[PathBuf],
) -> Result<(), StoreError> {
    for entry in declared {
        if let Some(storage) = &entry.storage {
            entry.places = storage_location::places(storage, roots);
        }
    }
    store.migrate_storage_locations(roots).await?;
    for old in store.migrate_references(&keys.seeing_all()).await? {
        warn!(
            user = %old.user,
            owner = old.owner,
            target = %old.target,
            "a reference leads to what its owner may not see; it is followed until its \
             definition is written again, or an administrator shares what it leads to"
        );
    }
    Ok(())
}
