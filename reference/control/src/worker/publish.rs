//! Publishes an archive to its storage.

use bytes::Bytes;
use tracing::warn;

use super::Shared;
use super::build_cache::{Origin, Record, digest};
use super::permits::Permit;
use crate::builder::Job;
use crate::metrics::Upload;
use crate::model::Phase;
use crate::storage::{Identity, Storage, StorageError, StoredObject};
use crate::store::{BuildOutcome, Claim};

/// Maximum number of write attempts when concurrent writes change the object.
const ATTEMPTS: u32 = 4;

/// Storage that a bundle is written to.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) storage: Storage,
    /// Digest of the definition of the storage.
    pub(super) digest: String,
}

/// Built bundle, ready to be published.
pub(super) struct BuiltBundle {
    pub(super) job: Job,
    pub(super) archive: Bytes,
    /// Revision in the manifest of the bundle.
    pub(super) revision: String,
    /// Inputs that the bundle was built from, if they determine the result of a build.
    pub(super) origin: Option<Origin>,
    pub(super) _upload: Permit,
}

impl Shared {
    /// Makes sure that the destination stores an archive: compares the stored object, and writes
    /// the archive if it differs. `Err` contains the outcome if this fails.
    pub(super) async fn publish(
        &self,
        claim: &Claim,
        built: &BuiltBundle,
        destination: Destination,
    ) -> Result<BuildOutcome, BuildOutcome> {
        let metrics = &self.control.metrics;
        let (archive, place) = (digest(&built.archive), destination.digest);
        let storage = &destination.storage;
        // A record of an older program may not parse; then the whole object is read once.
        let known = Record::read(&claim.published);
        let known = known.filter(|known| known.archive == archive && known.place == place);
        let known = known.map(|known| known.identity);
        let found = storage.compare(&built.archive, known.as_ref()).await;
        let found = found
            .map_err(|failure| self.not_stored(claim, &built.job, &built.revision, &failure))?;
        let defect = match (&found, &known) {
            (StoredObject::Nothing, Some(_)) => Some("was empty"),
            (StoredObject::Other(_), Some(_)) => Some("contained another bundle"),
            _ => None,
        };
        let identity = match found {
            StoredObject::Same(identity) => {
                metrics.uploaded(Upload::Unchanged);
                identity
            }
            found => {
                let written = self.write(claim, built, found, storage).await;
                metrics.uploaded(match (&written, defect) {
                    (Ok(_), None) => Upload::Success,
                    (Ok(_), Some(_)) => Upload::Repaired,
                    (Err(_), _) => Upload::Failed,
                });
                written?
            }
        };
        let record = Record {
            archive,
            place,
            identity,
            revision: built.revision.clone(),
            origin: built.origin.clone(),
        };
        Ok(self.published(claim, &built.job, record, defect))
    }

    /// Replaces the object seen at a destination; returns the identity that the storage reports.
    async fn write(
        &self,
        claim: &Claim,
        built: &BuiltBundle,
        mut seen: StoredObject,
        storage: &Storage,
    ) -> Result<Identity, BuildOutcome> {
        let archive = &built.archive;
        let refused = |failure| self.not_stored(claim, &built.job, &built.revision, &failure);
        for _ in 0..ATTEMPTS {
            let staged = storage.stage(archive).await.map_err(refused)?;
            self.check_ownership(claim).await?;
            let placed = staged.place(&seen).await.map_err(refused)?;
            // On a storage without conditional writes, a stalled writer may have written after
            // losing the claim.
            self.check_ownership(claim).await?;
            let found = storage.compare(archive, placed.as_ref()).await;
            match (found.map_err(refused)?, placed) {
                (StoredObject::Same(identity), _) => return Ok(identity),
                (StoredObject::Unknown, Some(identity)) => return Ok(identity),
                (_, Some(_)) => {
                    let message = "the storage took the bundle and does not hold it";
                    return Err(refused(StorageError::Push(message.to_owned())));
                }
                // A storage that refuses a satisfied condition does not support conditions.
                (found, None) if found == seen => {
                    warn!(
                        bundle = claim.bundle,
                        "a storage refuses a condition that holds"
                    );
                    seen = StoredObject::Unknown;
                }
                (found, None) => seen = found,
            }
        }
        let message = "somebody else writes to the same place all the time";
        Err(refused(StorageError::Push(message.to_owned())))
    }

    /// Checks that this process still owns the bundle. If not, its write may have followed the new
    /// owner's.
    async fn check_ownership(&self, claim: &Claim) -> Result<(), BuildOutcome> {
        match self.control.store.is_owner(claim, super::LEASE).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(BuildOutcome::Lost),
            Err(failure) => Err(self.server_failure(claim, Phase::Push, &failure)),
        }
    }
}
