//! Claims of storage locations before and after a write.

use std::collections::BTreeSet;

use tracing::warn;

use super::Shared;
use crate::model::ObjectStorage;
use crate::storage_location;
use crate::store::{ClaimOutcome, StoreError};

impl Shared {
    /// Claims the location of a bundle for a build, with links resolved now. Returns its spellings.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn take_place(
        &self,
        bundle: i64,
        name: &str,
        storage: &ObjectStorage,
        places: &mut BTreeSet<String>,
    ) -> Result<ClaimOutcome, StoreError> {
        let roots = self.settings.destinations.roots.clone();
        let found = match storage_location::find(storage.clone(), roots).await {
            Ok(found) => found,
            Err(failure) => return Ok(ClaimOutcome::Unknown(failure.to_string())),
        };
        let store = &self.control.store;
        let taken = store.claim_locations(bundle, storage, &found).await?;
        *places = found.own;
        if let ClaimOutcome::Foreign(holder) = &taken {
            places.clear();
            warn!(
                bundle = name,
                holder, "the storage location of a bundle belongs to another bundle"
            );
        }
        Ok(taken)
    }
}
