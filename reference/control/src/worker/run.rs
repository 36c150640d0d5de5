//! One build, from its claim to its recorded result.

use std::collections::BTreeSet;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use futures_util::FutureExt;
use tokio::sync::watch;
use tracing::{debug, error, info, warn};

use super::build_cache::{Origin, Record, digest};
use super::job::{JobError, LoadedInputs};
use super::permits::Permit;
use super::publish::{BuiltBundle, PublishError, Published};
use super::{DATABASE_PAUSE, LEASE, Shared, answered};
use crate::builder::{self, BuildError, Job};
use crate::metrics::Upload;
use crate::model::{BuildOptions, BuildResult, Phase};
use crate::redact::{redact, shorten};
use crate::storage::{Storage, StorageError};
use crate::store::{Claim, ClaimOutcome, Finish, MOST_DEATHS, Status, StoreError};
use http_server::units::milliseconds;

/// Interval of lease renewals.
const RENEWAL: Duration = Duration::from_secs(3);

/// Time before the end of an unrenewed lease at which its owner gives up.
const MARGIN: Duration = Duration::from_secs(3);

/// Maximum duration of one build.
const BUILD_TIMEOUT: Duration = Duration::from_secs(900);

/// Delay before the retry after a first failure; doubles with each further one, up to the interval.
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// Outcome of a build.
enum Ended {
    /// The build has a result.
    Done(Finish),
    /// The bundle is deleted.
    Deleted,
    /// Another owner has the bundle.
    Lost,
    /// The server stops, or the definition has changed.
    GivenUp,
}

/// Time span of a build.
struct Span {
    began: DateTime<Utc>,
    took: Duration,
}

impl Shared {
    /// Runs a build and records its result.
    pub(super) async fn run(
        self: Arc<Self>,
        claim: Claim,
        slot: Permit,
        mut given_up: watch::Receiver<()>,
    ) {
        let (began, begun) = (Utc::now(), Instant::now());
        let mut name = String::new();
        let mut places = BTreeSet::new();
        let ended = tokio::select! {
            ended = AssertUnwindSafe(self.build_or_refuse(&claim, slot, &mut name, &mut places)).catch_unwind() => {
                ended.unwrap_or_else(|_| {
                    let message = "the builder failed on this bundle".to_owned();
                    Ended::Done(self.failed(&claim, Phase::Build, BuildResult::InternalError, message))
                })
            }
            () = self.keep(&claim) => Ended::Lost,
            _ = given_up.changed() => Ended::GivenUp,
        };
        // Once the end is recorded, the next build of the bundle may run.
        let span = Span {
            began,
            took: begun.elapsed(),
        };
        let store = &self.control.store;
        if let Err(failure) = answered(store.write_again(claim.bundle, &places)).await {
            error!(bundle = name, %failure, "cannot look up the bundle that owns the storage location");
        }
        // A claim without a recorded end would mean that this process crashed.
        while let Err(failure) = answered(self.record(&claim, &name, &ended, &span)).await {
            error!(bundle = name, %failure, "the end of a build could not be recorded");
            tokio::select! {
                _ = given_up.changed() => return,
                () = tokio::time::sleep(DATABASE_PAUSE) => {}
            }
        }
    }

    /// Records the outcome of a build.
    async fn record(
        &self,
        claim: &Claim,
        name: &str,
        ended: &Ended,
        span: &Span,
    ) -> Result<(), StoreError> {
        let store = &self.control.store;
        match ended {
            Ended::Done(finish) => match store.finish(claim, finish).await? {
                true => {
                    self.log(claim, name, finish, span);
                    Ok(())
                }
                false => self.lost(claim, name).await,
            },
            Ended::Lost => self.lost(claim, name).await,
            Ended::Deleted => Ok(()),
            Ended::GivenUp => {
                info!(bundle = name, "build given up");
                store.release(claim).await
            }
        }
    }

    /// Builds and publishes a bundle, unless too many processes crashed during its builds.
    async fn build_or_refuse(
        &self,
        claim: &Claim,
        slot: Permit,
        name: &mut String,
        places: &mut BTreeSet<String>,
    ) -> Ended {
        if claim.deaths == 0 {
            return self.build(claim, slot, name, places).await;
        }
        match self.control.store.bundle(claim.bundle).await {
            Ok(Some(inputs)) => *name = inputs.name,
            Ok(None) => return Ended::Deleted,
            Err(failure) => return Ended::Done(self.broken(claim, Phase::Sync, &failure)),
        }
        if claim.deaths < MOST_DEATHS {
            warn!(
                bundle = name,
                "the process ended while it built this bundle; it is tried once more, alone"
            );
            return self.build(claim, slot, name, places).await;
        }
        let message = format!(
            "the process ended {MOST_DEATHS} times while it built this bundle, which is not built \
             again before a definition that it is made of is written: its own, or that of a \
             source, a stack or a secret"
        );
        let mut finish = self.failed(claim, Phase::Build, BuildResult::InternalError, message);
        finish.again = None;
        finish.condemned = true;
        Ended::Done(finish)
    }

    /// Builds and publishes a bundle.
    async fn build(
        &self,
        claim: &Claim,
        slot: Permit,
        name: &mut String,
        places: &mut BTreeSet<String>,
    ) -> Ended {
        let record = Record::read(&claim.published);
        let is_current = |record: &Record| record.is_current(&self.builder, claim);
        let alone = record.as_ref().is_some_and(is_current);
        let read = match self.read(claim, alone).await {
            Ok(read) => read,
            Err(ended) => return ended,
        };
        read.job.name.clone_into(name);
        let build = self.build_job(claim, slot, read, record, places);
        match tokio::time::timeout(BUILD_TIMEOUT, build).await {
            Ok(ended) => ended,
            Err(_) => {
                let message = format!("the build took longer than {} s", BUILD_TIMEOUT.as_secs());
                Ended::Done(self.failed(claim, Phase::Build, BuildResult::InternalError, message))
            }
        }
    }

    /// Loads the inputs of a bundle, or the bundle alone.
    async fn read(&self, claim: &Claim, alone: bool) -> Result<LoadedInputs, Ended> {
        let read = match alone {
            true => self.control.bundle_alone(claim.bundle).await,
            false => {
                let limit = self.settings.access.limits.total;
                self.control.job(claim.bundle, limit).await
            }
        };
        match read {
            Ok(Some(read)) => Ok(read),
            Ok(None) => Err(Ended::Deleted),
            Err(JobError::Store(
                failure @ (StoreError::TooLarge(_) | StoreError::MissingReference { .. }),
            )) => Err(Ended::Done(self.failed(
                claim,
                Phase::Sync,
                BuildResult::ConfigError,
                failure.to_string(),
            ))),
            Err(failure) => Err(Ended::Done(self.broken(claim, Phase::Sync, &failure))),
        }
    }

    async fn build_job(
        &self,
        claim: &Claim,
        slot: Permit,
        read: LoadedInputs,
        record: Option<Record>,
        places: &mut BTreeSet<String>,
    ) -> Ended {
        let job = &read.job;
        let storage = job.bundle.object_storage.clone();
        let Some(storage) = storage.filter(|one| !one.is_empty()) else {
            let message = "the bundle has no object_storage".to_owned();
            let mut finish = self.failed(claim, Phase::Push, BuildResult::ConfigError, message);
            // Only a change can help, so there is no retry.
            finish.again = None;
            return Ended::Done(finish);
        };
        let opened = Storage::open(&storage, &job.secrets, &self.settings.destinations);
        let destination = match opened {
            Ok(destination) => destination,
            Err(failure) => return Ended::Done(self.not_pushed(claim, job, "", &failure)),
        };
        let taken = self.take_place(claim.bundle, &job.name, &storage, places);
        match taken.await {
            Ok(ClaimOutcome::Own) => {}
            // The change has made the bundle due again.
            Ok(ClaimOutcome::Changed) => return Ended::GivenUp,
            Ok(ClaimOutcome::Foreign(_)) => {
                let message = "another bundle has the place in the storage".to_owned();
                return Ended::Done(self.failed(
                    claim,
                    Phase::Push,
                    BuildResult::ConfigError,
                    message,
                ));
            }
            Ok(ClaimOutcome::Unknown(why)) => {
                let message = format!("the folder of the bundle: {why}");
                let pushed = BuildResult::PushFailed;
                return Ended::Done(self.failed(claim, Phase::Push, pushed, message));
            }
            Err(failure) => return Ended::Done(self.broken(claim, Phase::Push, &failure)),
        }
        let place = match serde_json::to_vec(&storage) {
            Ok(place) => digest(&place),
            Err(failure) => return Ended::Done(self.broken(claim, Phase::Push, &failure)),
        };
        let record = record.filter(|record| record.place == place);
        let made = match self.make(claim, slot, read, record, &destination).await {
            Ok(made) => made,
            Err(ended) => {
                // Nothing was written to them.
                places.clear();
                return ended;
            }
        };
        let job = &made.job;
        let published = self.publish(claim, &made, place, &destination);
        Ended::Done(match published.await {
            Ok(published) => self.pushed(claim, job, published),
            Err(PublishError::Storage(failure)) => {
                self.not_pushed(claim, job, &made.revision, &failure)
            }
            Err(PublishError::Store(failure)) => self.broken(claim, Phase::Push, &failure),
            Err(PublishError::Lost) => return Ended::Lost,
        })
    }

    /// Builds an archive, unless the storage still has the one built from the same files, which
    /// ends the build. `record` describes the last written archive.
    async fn make(
        &self,
        claim: &Claim,
        mut slot: Permit,
        mut read: LoadedInputs,
        mut record: Option<Record>,
        destination: &Storage,
    ) -> Result<BuiltBundle, Ended> {
        let access = &self.settings.access;
        let folder = self.work.of_bundle(claim.bundle);
        let synced = |source: &str, read| self.control.metrics.synced(source, read);
        loop {
            let built = match &read.digest {
                // Only the bundle was loaded because the files are known to be the same.
                None => None,
                Some(digest) => {
                    let known = record.as_ref();
                    let known = known.and_then(|record| record.files(&self.builder, digest));
                    let built = builder::build(&read.job, access, &folder, &synced, known).await;
                    built.map_err(|failure| self.not_built(claim, &read.job, failure))?
                }
            };
            let stored = read.digest.take();
            if let Some(built) = built {
                debug!(bundle = read.job.name, commits = ?built.commits, "sources read");
                let options = read.job.bundle.options.as_ref();
                if claim.published.is_empty() && options.is_some_and(BuildOptions::optimizes) {
                    info!(
                        bundle = read.job.name,
                        "options.optimization has no effect: policies stay as they are written"
                    );
                }
                let is_same = |record: &Record| record.archive == digest(&built.archive);
                if built.owns_all && !record.as_ref().is_some_and(is_same) {
                    warn!(
                        bundle = read.job.name,
                        "the bundle has the root of all documents: an engine that loads it drops \
                         the policies and documents of its files, also an authorization policy"
                    );
                }
                let origin = built.fingerprint.zip(stored).map(|(files, stored)| Origin {
                    builder: self.builder.clone(),
                    wanted: claim.wanted,
                    stored,
                    files,
                });
                // Frees memory: storages may be slow, and sources large.
                read.job.sources.clear();
                return Ok(BuiltBundle {
                    _upload: self.slots.upload(slot, built.archive.len()),
                    job: read.job,
                    archive: Bytes::from(built.archive),
                    revision: built.revision,
                    origin,
                });
            }
            // Frees memory: storages may be slow, and sources large.
            read.job.sources.clear();
            let upload = self.slots.upload(slot, 0);
            if let Some(record) = record.take()
                && destination.holds(&record.archive, &record.identity).await
            {
                self.control.metrics.uploaded(Upload::Unchanged);
                return Err(Ended::Done(
                    self.unchanged(claim, &read.job, record, stored),
                ));
            }
            // It has to be rebuilt.
            drop(upload);
            slot = self.slots.wait(&claim.tenant).await;
            read = self.read(claim, false).await?;
        }
    }

    /// Returns the result of a build that failed before publishing.
    fn not_built(&self, claim: &Claim, job: &Job, failure: BuildError) -> Ended {
        let mut finish = self.failed(claim, failure.phase, failure.result, failure.message);
        if failure.exhausted {
            // A retry would fail the same way, and other bundles wait for the builders.
            finish.again = Some(self.settings.interval_of(&job.bundle));
        }
        Ended::Done(finish)
    }

    /// Returns the result of a build that was not needed.
    fn unchanged(
        &self,
        claim: &Claim,
        job: &Job,
        mut record: Record,
        stored: Option<String>,
    ) -> Finish {
        if let Some(origin) = &mut record.origin {
            origin.wanted = claim.wanted;
            origin.stored = stored.unwrap_or_else(|| origin.stored.clone());
        }
        let published = Published {
            record,
            repaired: None,
        };
        self.pushed(claim, job, published)
    }

    /// Returns the result of a build that succeeded.
    fn pushed(&self, claim: &Claim, job: &Job, published: Published) -> Finish {
        let revision = published.record.revision.clone();
        let record = match serde_json::to_string(&published.record) {
            Ok(record) => record,
            Err(failure) => return self.broken(claim, Phase::Push, &failure),
        };
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
            published: Some(record),
            again: Some(self.settings.interval_of(&job.bundle)),
            condemned: false,
        }
    }

    fn not_pushed(
        &self,
        claim: &Claim,
        job: &Job,
        revision: &str,
        failure: &StorageError,
    ) -> Finish {
        let result = match failure {
            StorageError::Config(_) => BuildResult::ConfigError,
            StorageError::Push(_) => BuildResult::PushFailed,
        };
        // Responses of storages may repeat parts of the request.
        let message = redact(failure.to_string(), job.all_secrets());
        let mut finish = self.failed(claim, Phase::Push, result, message);
        revision.clone_into(&mut finish.status.revision);
        finish
    }

    /// Returns the result of a build after an internal error; only the log has the reason.
    fn broken(&self, claim: &Claim, phase: Phase, failure: &dyn Error) -> Finish {
        error!(bundle = claim.bundle, %failure, "the server cannot build");
        self.failed(
            claim,
            phase,
            BuildResult::InternalError,
            "the server failed".to_owned(),
        )
    }

    /// Returns the result of a failed build; the previously published bundle stays.
    fn failed(&self, claim: &Claim, phase: Phase, result: BuildResult, message: String) -> Finish {
        let doubled = FIRST_RETRY.saturating_mul(1 << claim.failures.min(16));
        Finish {
            status: Status {
                revision: String::new(),
                phase,
                result,
                message: shorten(&message),
            },
            succeeded: false,
            published: None,
            again: Some(doubled.min(self.settings.interval.max(FIRST_RETRY))),
            condemned: false,
        }
    }

    /// Renews the lease of a claim; returns when the bundle is lost, or when that is unknown and
    /// the lease is about to expire.
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
    fn log(&self, claim: &Claim, name: &str, finish: &Finish, span: &Span) {
        let Status {
            revision,
            phase,
            result,
            message,
        } = &finish.status;
        let duration_ms = milliseconds(span.took);
        self.control.metrics.built(name, *result, span.took);
        let written = finish.published.as_deref().and_then(Record::read);
        let is_same = |written: &Record| {
            let before = Record::read(&claim.published);
            before.is_some_and(|before| before.is_same(written))
        };
        if written.as_ref().is_some_and(is_same) {
            debug!(bundle = name, revision, duration_ms, "bundle unchanged");
        } else if finish.succeeded {
            let began = span.began.to_rfc3339_opts(SecondsFormat::Micros, true);
            info!(bundle = name, revision, began, duration_ms, "bundle built");
        } else {
            let (phase, status) = (phase.name(), result.name());
            warn!(
                bundle = name,
                revision, phase, status, message, duration_ms, "build failed"
            );
        }
    }

    /// Ends a build whose bundle is lost: to another owner, or because it is deleted. This build
    /// may have overwritten the object of the new owner, so the bundle is marked to be written once
    /// more.
    async fn lost(&self, claim: &Claim, name: &str) -> Result<(), StoreError> {
        warn!(bundle = name, "a build has lost its bundle");
        self.control.store.retract(claim.bundle).await
    }
}
