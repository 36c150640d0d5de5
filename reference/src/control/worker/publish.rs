//! Publishes an archive to its storage.

use bytes::Bytes;
use tracing::warn;

use super::Shared;
use super::build_cache::{Origin, Record, digest};
use super::permits::Permit;
use crate::control::builder::Job;
use crate::control::destination::{Destination, DestinationError, Identity, StoredObject};
use crate::control::metrics::Upload;
use crate::control::store::{Claim, StoreError};

/// How often a write is begun anew because something else was written meanwhile.
const ATTEMPTS: u32 = 4;

/// Why a bundle was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum PublishError {
    /// Another owner has the bundle. What was written may have come after what he wrote.
    #[error("the bundle is no longer this replica's")]
    Lost,
    #[error(transparent)]
    Destination(#[from] DestinationError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A bundle on its way to its storage.
pub(super) struct BuiltBundle {
    pub(super) job: Job,
    pub(super) archive: Bytes,
    /// The revision in its manifest.
    pub(super) revision: String,
    /// What it was made from, where that tells what a build comes to.
    pub(super) origin: Option<Origin>,
    pub(super) _upload: Permit,
}

/// A bundle that is where it belongs.
#[derive(Debug)]
pub(super) struct Published {
    /// What is to be known of it at the next build.
    pub(super) record: Record,
    /// What was wrong with what the storage held of it, if it had to be written again.
    pub(super) repaired: Option<&'static str>,
}

impl Shared {
    /// Sees to it that the destination, whose digest is `place`, holds an archive: looks what is
    /// there, and writes unless it is that.
    pub(super) async fn publish(
        &self,
        claim: &Claim,
        made: &BuiltBundle,
        place: String,
        destination: &Destination,
    ) -> Result<Published, PublishError> {
        let archive = &made.archive;
        let metrics = &self.control.metrics;
        let digest = digest(archive);
        // What older programs noted is no such build_cache; then all of the object is read once.
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

    /// Replaces what was seen at a destination; gives what the storage says of the archive.
    async fn write(
        &self,
        claim: &Claim,
        archive: &Bytes,
        mut seen: StoredObject,
        destination: &Destination,
    ) -> Result<Identity, PublishError> {
        for _ in 0..ATTEMPTS {
            let staged = destination.stage(archive).await?;
            self.still_ours(claim).await?;
            let placed = staged.place(&seen).await?;
            // One who stood still in the middle of it could have come too late, where a storage
            // knows no conditions.
            self.still_ours(claim).await?;
            let told = placed.as_ref();
            let held = destination.compare(archive, told).await?;
            match (held, placed) {
                (StoredObject::Same(identity), _) => return Ok(identity),
                (StoredObject::Unknown, Some(identity)) => return Ok(identity),
                (_, Some(_)) => {
                    let message = "the storage took the bundle and does not hold it";
                    return Err(DestinationError::Push(message.to_owned()).into());
                }
                // A storage that refuses what holds does not know its own conditions.
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
        Err(DestinationError::Push(message.to_owned()).into())
    }

    /// Makes sure that nobody else has the bundle.
    async fn still_ours(&self, claim: &Claim) -> Result<(), PublishError> {
        match self.control.store.keep(claim, super::LEASE).await? {
            true => Ok(()),
            false => Err(PublishError::Lost),
        }
    }
}
