//! One build, from its claim to its record.

use std::collections::BTreeSet;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use chrono::{SecondsFormat, Utc};
use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tracing::{debug, error, info, warn};

use super::job::JobError;
use super::publish::{PublishError, Published};
use super::{LEASE, Shared};
use crate::control::builder::{self, BuildError, Built, Job};
use crate::control::destination::{Destination, DestinationError};
use crate::control::model::{BuildOptions, BuildResult, Phase};
use crate::control::redact::{redact, shorten};
use crate::control::store::{Claim, Finish, Status, StoreError, Taken};
use crate::units::milliseconds;

/// How often a lease is renewed.
const RENEWAL: Duration = Duration::from_secs(3);

/// How long before the end of a lease that could not be renewed its owner gives up.
const MARGIN: Duration = Duration::from_secs(3);

/// How long one build may take.
const BUILD_TIMEOUT: Duration = Duration::from_secs(900);

/// The wait after the first failure; it doubles with each further one, up to the interval.
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// How a build ended.
enum Ended {
    /// It came to a result.
    Done(Finish),
    /// The bundle is deleted.
    Deleted,
    /// Another owner has the bundle.
    Lost,
    /// The server stops.
    GivenUp,
}

impl Shared {
    /// Runs a build and records what it came to.
    pub(super) async fn run(
        self: Arc<Self>,
        claim: Claim,
        slot: OwnedSemaphorePermit,
        mut given_up: watch::Receiver<()>,
    ) {
        let begun = Instant::now();
        let mut name = String::new();
        let mut places = BTreeSet::new();
        let ended = tokio::select! {
            ended = AssertUnwindSafe(self.build(&claim, slot, &mut name, &mut places)).catch_unwind() => {
                ended.unwrap_or_else(|_| {
                    let message = "the builder failed on this bundle".to_owned();
                    Ended::Done(self.failed(&claim, Phase::Build, BuildResult::InternalError, message))
                })
            }
            () = self.keep(&claim) => Ended::Lost,
            _ = given_up.changed() => Ended::GivenUp,
        };
        let store = &self.control.store;
        if let Err(failure) = store.write_again(claim.bundle, &places).await {
            error!(bundle = name, %failure, "cannot look up the bundle that owns the storage location");
        }
        let recorded = match ended {
            Ended::Done(finish) => match store.finish(&claim, &finish).await {
                Ok(true) => {
                    self.log(&claim, &name, &finish, begun.elapsed());
                    Ok(())
                }
                Ok(false) => self.lost(&claim, &name).await,
                Err(failure) => Err(failure),
            },
            Ended::Lost => self.lost(&claim, &name).await,
            Ended::Deleted => Ok(()),
            Ended::GivenUp => {
                info!(bundle = name, "build given up");
                store.release(&claim).await
            }
        };
        if let Err(failure) = recorded {
            // The lease ends by itself, and the bundle is built again.
            error!(bundle = name, %failure, "the end of a build could not be recorded");
        }
    }

    /// Builds and publishes a bundle.
    async fn build(
        &self,
        claim: &Claim,
        slot: OwnedSemaphorePermit,
        name: &mut String,
        places: &mut BTreeSet<String>,
    ) -> Ended {
        let limit = self.settings.access.limits.total;
        let job = match self.control.job(claim.bundle, limit).await {
            Ok(Some(job)) => job,
            Ok(None) => return Ended::Deleted,
            Err(JobError::Store(
                failure @ (StoreError::TooLarge(_) | StoreError::MissingReference { .. }),
            )) => {
                let failed = self.failed(
                    claim,
                    Phase::Sync,
                    BuildResult::ConfigError,
                    failure.to_string(),
                );
                return Ended::Done(failed);
            }
            Err(failure) => return Ended::Done(self.broken(claim, Phase::Sync, &failure)),
        };
        job.name.clone_into(name);
        match tokio::time::timeout(BUILD_TIMEOUT, self.build_job(claim, slot, job, places)).await {
            Ok(ended) => ended,
            Err(_) => {
                let message = format!("the build took longer than {} s", BUILD_TIMEOUT.as_secs());
                Ended::Done(self.failed(claim, Phase::Build, BuildResult::InternalError, message))
            }
        }
    }

    async fn build_job(
        &self,
        claim: &Claim,
        slot: OwnedSemaphorePermit,
        mut job: Job,
        places: &mut BTreeSet<String>,
    ) -> Ended {
        let storage = job.bundle.object_storage.clone();
        let Some(storage) = storage.filter(|one| !one.is_empty()) else {
            let message = "the bundle has no object_storage".to_owned();
            let mut finish = self.failed(claim, Phase::Push, BuildResult::ConfigError, message);
            // Only a change can help.
            finish.again = None;
            return Ended::Done(finish);
        };
        let opened = Destination::open(&storage, &job.secrets, &self.settings.destinations);
        let destination = match opened {
            Ok(destination) => destination,
            Err(failure) => return Ended::Done(self.not_pushed(claim, &job, "", &failure)),
        };
        let taken = self.take_place(claim.bundle, &job.name, &storage, places);
        match taken.await {
            Ok(Taken::Own) => {}
            // The change has made it due again.
            Ok(Taken::Changed) => return Ended::GivenUp,
            Ok(Taken::Foreign(_)) => {
                let message = "another bundle has the place in the storage".to_owned();
                return Ended::Done(self.failed(
                    claim,
                    Phase::Push,
                    BuildResult::ConfigError,
                    message,
                ));
            }
            Err(failure) => return Ended::Done(self.broken(claim, Phase::Push, &failure)),
        }
        let folder = self.work.of_bundle(claim.bundle);
        let synced = |source: &str, read| self.control.metrics.synced(source, read);
        let built = match builder::build(&job, &self.settings.access, &folder, &synced).await {
            Ok(built) => built,
            Err(BuildError {
                phase,
                result,
                message,
            }) => {
                let failed = self.failed(claim, phase, result, message);
                return Ended::Done(failed);
            }
        };
        debug!(bundle = job.name, commits = ?built.commits, "sources read");
        if claim.published.is_empty()
            && job
                .bundle
                .options
                .as_ref()
                .is_some_and(BuildOptions::optimizes)
        {
            info!(
                bundle = job.name,
                "options.optimization has no effect: policies stay as they are written"
            );
        }
        let Built {
            archive, revision, ..
        } = built;
        // Storages may be slow, and sources large.
        job.sources.clear();
        let _upload = self.upload(slot, archive.len());
        let archive = Bytes::from(archive);
        let published = self.publish(claim, &archive, &storage, &destination);
        Ended::Done(match published.await {
            Ok(published) => self.pushed(&job, revision, published),
            Err(PublishError::Destination(failure)) => {
                self.not_pushed(claim, &job, &revision, &failure)
            }
            Err(PublishError::Store(failure)) => self.broken(claim, Phase::Push, &failure),
            Err(PublishError::Lost) => return Ended::Lost,
        })
    }

    /// The result of a build that succeeded.
    fn pushed(&self, job: &Job, revision: String, published: Published) -> Finish {
        let message = published.repaired.map(|why| {
            warn!(
                bundle = job.name,
                revision, "the storage {why}; bundle written again"
            );
            let time = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
            format!("written again at {time}, because the storage {why}")
        });
        Finish {
            status: Status {
                revision,
                phase: Phase::Push,
                result: BuildResult::Success,
                message: message.unwrap_or_default(),
            },
            succeeded: true,
            published: Some(published.record),
            again: Some(self.settings.interval_of(&job.bundle)),
        }
    }

    fn not_pushed(
        &self,
        claim: &Claim,
        job: &Job,
        revision: &str,
        failure: &DestinationError,
    ) -> Finish {
        let result = match failure {
            DestinationError::Config(_) => BuildResult::ConfigError,
            DestinationError::Push(_) => BuildResult::PushFailed,
        };
        // Storages may show in their answers what they were sent.
        let message = redact(failure.to_string(), job.all_secrets());
        let mut finish = self.failed(claim, Phase::Push, result, message);
        revision.clone_into(&mut finish.status.revision);
        finish
    }

    /// The result of a build that the server itself failed; only the log says why.
    fn broken(&self, claim: &Claim, phase: Phase, failure: &dyn Error) -> Finish {
        error!(bundle = claim.bundle, %failure, "the server cannot build");
        self.failed(
            claim,
            phase,
            BuildResult::InternalError,
            "the server failed".to_owned(),
        )
    }

    /// The result of a build that failed; what was published before stays.
    fn failed(&self, claim: &Claim, phase: Phase, result: BuildResult, message: String) -> Finish {
        let doubled = FIRST_RETRY.saturating_mul(1 << claim.failures.min(16));
        Finish {
            status: Status {
                revision: String::new(),
                phase,
                result,
                message: shorten(message),
            },
            succeeded: false,
            published: None,
            again: Some(doubled.min(self.settings.interval.max(FIRST_RETRY))),
        }
    }

    /// Renews the lease of a claim; returns when the bundle is lost, or when that cannot be told
    /// and the lease is about to end.
    async fn keep(&self, claim: &Claim) {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(RENEWAL).await;
            let asked = Instant::now();
            let renewal = self.control.store.renew(claim, LEASE);
            let left = LEASE.saturating_sub(MARGIN + renewed.elapsed());
            match tokio::time::timeout(left, renewal).await {
                Ok(Ok(true)) => renewed = asked,
                Ok(Ok(false)) | Err(_) => return,
                Ok(Err(failure)) => warn!(%failure, "a lease could not be renewed"),
            }
        }
    }

    /// Logs and counts a result.
    fn log(&self, claim: &Claim, name: &str, finish: &Finish, took: Duration) {
        let Status {
            revision,
            phase,
            result,
            message,
        } = &finish.status;
        let duration_ms = milliseconds(took);
        self.control.metrics.built(name, *result, took);
        if finish.succeeded && finish.published.as_ref() == Some(&claim.published) {
            debug!(bundle = name, revision, duration_ms, "bundle unchanged");
        } else if finish.succeeded {
            info!(bundle = name, revision, duration_ms, "bundle built");
        } else {
            let (phase, status) = (phase.name(), result.name());
            warn!(
                bundle = name,
                revision, phase, status, message, duration_ms, "build failed"
            );
        }
    }

    /// Ends a build whose bundle is lost: to another owner, or because it is deleted. What this
    /// build may have written could have come after what the new owner wrote, so the bundle is
    /// to be written once more.
    async fn lost(&self, claim: &Claim, name: &str) -> Result<(), StoreError> {
        warn!(bundle = name, "a build has lost its bundle");
        self.control.store.publish_again(claim.bundle).await
    }
}
