//! Migration of definitions that predate the rules about tenants.

use std::path::PathBuf;

use tracing::warn;

use super::model::Entry;
use super::principal::Keys;
use super::storage_location;
use super::store::{Store, StoreError};

/// Resolves the storage locations of stored and declared bundles, and records permissions of stored
/// references. Definitions that violate the rules stay unchanged, and the log names them.
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
