//! Publishes an archive to its storage.

use bytes::Bytes;
use tracing::warn;

use super::Shared;
use super::build_cache::{Origin, Record, digest};
use super::permits::Permit;
use crate::builder::Job;
use crate::metrics::Upload;
use crate::storage::{Identity, Storage, StorageError, StoredObject};
use crate::store::{Claim, StoreError};

/// Maximum number of write attempts when concurrent writes change the object.
const ATTEMPTS: u32 = 4;

/// Reason why a bundle was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum PublishError {
    /// Another owner has the bundle. This write may have followed the new owner's.
    #[error("the bundle is no longer this replica's")]
    Lost,
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Store(#[from] StoreError),
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

/// Bundle that is stored at its destination.
#[derive(Debug)]
pub(super) struct Published {
    /// Record of the written bundle, for the next build.
    pub(super) record: Record,
    /// Defect of the stored object, if it had to be written again.
    pub(super) repaired: Option<&'static str>,
}

impl Shared {
    /// Makes sure that the destination, whose digest is `place`, stores an archive: compares the
    /// stored object, and writes the archive if it differs.
    pub(super) async fn publish(
        &self,
        claim: &Claim,
        made: &BuiltBundle,
        place: String,
        destination: &Storage,
    ) -> Result<Published, PublishError> {
        let archive = &made.archive;
        let metrics = &self.control.metrics;
        let digest = digest(archive);
        // A record of an older program may not parse; then the whole object is read once.
        let known = Record::read(&claim.published);
        let known = known.filter(|known| known.archive == digest && known.place == place);
        let known = known.map(|known| known.identity);
        let held = destination.compare(archive, known.as_ref()).await?;
        let repaired = match (&held, &known) {
            (StoredObject::Nothing, Some(_)) => Some("was empty"),
            (StoredObject::Other(_), Some(_)) => Some("contained another bundle"),
            _ => None,
        };
        let identity = match held {
            StoredObject::Same(identity) => {
                metrics.uploaded(Upload::Unchanged);
                identity
            }
            held => {
                let written = self.write(claim, archive, held, destination).await;
                metrics.uploaded(match (&written, repaired) {
                    (Ok(_), None) => Upload::Success,
                    (Ok(_), Some(_)) => Upload::Repaired,
                    (Err(_), _) => Upload::Failed,
                });
                written?
            }
        };
        let record = Record {
            archive: digest,
            place,
            identity,
            revision: made.revision.clone(),
            origin: made.origin.clone(),
        };
        Ok(Published { record, repaired })
    }

    /// Replaces the object seen at a destination; returns the identity that the storage reports.
    async fn write(
        &self,
        claim: &Claim,
        archive: &Bytes,
        mut seen: StoredObject,
        destination: &Storage,
    ) -> Result<Identity, PublishError> {
        for _ in 0..ATTEMPTS {
            let staged = destination.stage(archive).await?;
            self.still_ours(claim).await?;
            let placed = staged.place(&seen).await?;
            // On a storage without conditional writes, a stalled writer may have written after
            // losing the claim.
            self.still_ours(claim).await?;
            let told = placed.as_ref();
            let held = destination.compare(archive, told).await?;
            match (held, placed) {
                (StoredObject::Same(identity), _) => return Ok(identity),
                (StoredObject::Unknown, Some(identity)) => return Ok(identity),
                (_, Some(_)) => {
                    let message = "the storage took the bundle and does not hold it";
                    return Err(StorageError::Push(message.to_owned()).into());
                }
                // A storage that refuses a satisfied condition does not support conditions.
                (held, None) if held == seen => {
                    warn!(
                        bundle = claim.bundle,
                        "a storage refuses a condition that holds"
                    );
                    seen = StoredObject::Unknown;
                }
                (held, None) => seen = held,
            }
        }
        let message = "somebody else writes to the same place all the time";
        Err(StorageError::Push(message.to_owned()).into())
    }

    /// Checks that this process still owns the bundle.
    async fn still_ours(&self, claim: &Claim) -> Result<(), PublishError> {
        match self.control.store.keep(claim, super::LEASE).await? {
            true => Ok(()),
            false => Err(PublishError::Lost),
        }
    }
}
