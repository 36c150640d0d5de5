//! From an archive to its destination.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::Shared;
use crate::control::builder::Built;
use crate::control::destination::{Destination, DestinationError};
use crate::control::metrics::Upload;
use crate::control::model::ObjectStorage;
use crate::control::store::{Claim, StoreError};

/// Why a bundle was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum PublishError {
    /// Another owner has the bundle; nothing was written.
    #[error("the bundle is no longer this replica's")]
    Lost,
    #[error(transparent)]
    Destination(#[from] DestinationError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Shared {
    /// Writes an archive to its destination, unless it is there already. Gives the digest of
    /// what is there, and where.
    pub(super) async fn publish(
        &self,
        claim: &Claim,
        built: &Built,
        storage: &ObjectStorage,
        destination: &Destination,
    ) -> Result<String, PublishError> {
        let metrics = &self.control.metrics;
        let digest = digest(built, storage)?;
        if claim.published == digest {
            let size = u64::try_from(built.archive.len()).unwrap_or(u64::MAX);
            if self.is_confirmed(claim.bundle, &digest) || destination.holds(size).await {
                self.confirm(claim.bundle, &digest);
                metrics.uploaded(Upload::Unchanged);
                return Ok(digest);
            }
        }
        // Whoever has lost the bundle must not write after the one who has it now.
        if !self.control.store.renew(claim, super::LEASE).await? {
            return Err(PublishError::Lost);
        }
        let written = destination.write(built.archive.clone()).await;
        metrics.uploaded(match written {
            Ok(()) => Upload::Success,
            Err(_) => Upload::Failed,
        });
        written?;
        self.confirm(claim.bundle, &digest);
        Ok(digest)
    }
}

/// The digest of an archive and of the definition of its place.
fn digest(built: &Built, storage: &ObjectStorage) -> Result<String, DestinationError> {
    let place = serde_json::to_vec(storage);
    let place = place.map_err(|failure| DestinationError::Config(failure.to_string()))?;
    let mut text = String::new();
    for part in [Sha256::digest(&built.archive), Sha256::digest(place)] {
        for byte in part {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
    }
    Ok(text)
}
