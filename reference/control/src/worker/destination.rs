//! Destination of a build: opens its storage, and claims its location.

use tracing::warn;

use super::Shared;
use super::build_cache::digest;
use super::publish::Destination;
use super::run::Progress;
use crate::builder::Job;
use crate::model::{BuildResult, ObjectStorage, Phase};
use crate::storage::Storage;
use crate::storage_location;
use crate::store::{BuildOutcome, Claim, ClaimOutcome, StoreError};

impl Shared {
    /// Opens the storage of a bundle, and claims its location.
    ///
    /// # Errors
    /// The outcome of the build, when the bundle cannot be written there.
    pub(super) async fn claim_destination(
        &self,
        claim: &Claim,
        job: &Job,
        progress: &mut Progress,
    ) -> Result<Destination, BuildOutcome> {
        let refused = |result, message: &str| self.failed(claim, Phase::Push, result, message);
        let storage = job.bundle.object_storage.as_ref();
        let Some(definition) = storage.filter(|storage| !storage.is_empty()) else {
            let message = "the bundle has no object_storage";
            let mut outcome = refused(BuildResult::ConfigError, message);
            if let BuildOutcome::Failed { retry, .. } = &mut outcome {
                // A retry would fail the same way: only a change of the definition helps.
                *retry = None;
            }
            return Err(outcome);
        };
        let storage = Storage::open(definition, &job.secrets, &self.settings.destinations);
        let storage = storage.map_err(|failure| self.not_stored(claim, job, "", &failure))?;
        let claimed = self.claim_location(claim.bundle, definition, progress);
        match claimed.await {
            Ok(ClaimOutcome::Own) => {}
            // The change has made the bundle due again.
            Ok(ClaimOutcome::Changed) => return Err(BuildOutcome::Abandoned),
            Ok(ClaimOutcome::Foreign(_)) => {
                let message = "another bundle has the place in the storage";
                return Err(refused(BuildResult::ConfigError, message));
            }
            Ok(ClaimOutcome::Unknown(reason)) => {
                let message = format!("the folder of the bundle: {reason}");
                return Err(refused(BuildResult::PushFailed, &message));
            }
            Err(failure) => return Err(self.server_failure(claim, Phase::Push, &failure)),
        }
        match serde_json::to_vec(definition) {
            Ok(definition) => Ok(Destination {
                storage,
                digest: digest(&definition),
            }),
            Err(failure) => Err(self.server_failure(claim, Phase::Push, &failure)),
        }
    }

    /// Claims the location of a bundle for a build, with links resolved now, and adds its spellings
    /// to the progress.
    async fn claim_location(
        &self,
        bundle: i64,
        storage: &ObjectStorage,
        progress: &mut Progress,
    ) -> Result<ClaimOutcome, StoreError> {
        let roots = self.settings.destinations.roots.clone();
        let found = match storage_location::find(storage.clone(), roots).await {
            Ok(found) => found,
            Err(failure) => return Ok(ClaimOutcome::Unknown(failure.to_string())),
        };
        let store = &self.control.store;
        let claimed = store.claim_locations(bundle, storage, &found).await?;
        progress.places = found.own;
        if let ClaimOutcome::Foreign(holder) = &claimed {
            progress.places.clear();
            warn!(
                bundle = progress.name,
                holder, "the storage location of a bundle belongs to another bundle"
            );
        }
        Ok(claimed)
    }
}
