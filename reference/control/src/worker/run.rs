//! One build: loads the inputs, builds the archive, publishes it, records the outcome.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use chrono::Utc;
use futures_util::FutureExt;
use tokio::sync::watch;
use tracing::{debug, error, info, warn};

use super::build_cache::{Origin, Record, digest};
use super::inputs::Inputs;
use super::outcome::Span;
use super::permits::Permit;
use super::publish::{BuiltBundle, Destination};
use super::{DATABASE_PAUSE, LEASE, Shared, with_timeout};
use crate::builder::{self, Built};
use crate::metrics::Upload;
use crate::model::{BuildOptions, Phase};
use crate::store::{BuildOutcome, Claim, MAX_DEATHS};

/// Interval of lease renewals.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(3);

/// Time before the end of an unrenewed lease at which its owner gives up.
const LEASE_MARGIN: Duration = Duration::from_secs(3);

/// Maximum duration of one build.
const BUILD_TIMEOUT: Duration = Duration::from_secs(900);

/// State of a build that is needed to record its outcome, even if the build is aborted.
#[derive(Default)]
pub(super) struct Progress {
    /// Name of the bundle; empty until it is read.
    pub(super) name: String,
    /// Storage locations that the build may have written to.
    pub(super) places: BTreeSet<String>,
}

impl Shared {
    /// Builds a bundle and records the outcome.
    pub(super) async fn run(
        self: Arc<Self>,
        claim: Claim,
        slot: Permit,
        mut given_up: watch::Receiver<()>,
    ) {
        let (began, started) = (Utc::now(), Instant::now());
        let mut progress = Progress::default();
        let build = AssertUnwindSafe(self.build_and_publish(&claim, slot, &mut progress));
        let outcome = tokio::select! {
            outcome = build.catch_unwind() => match outcome {
                Ok(Ok(outcome) | Err(outcome)) => outcome,
                Err(_) => self.internal_error(&claim, "the builder failed on this bundle"),
            },
            () = self.renew_lease(&claim) => BuildOutcome::Lost,
            _ = given_up.changed() => BuildOutcome::Abandoned,
        };
        let span = Span {
            began,
            elapsed: started.elapsed(),
        };
        // Once the outcome is recorded, the next build of the bundle may run.
        self.record(&claim, &progress, &outcome, &span, given_up)
            .await;
    }

    /// Loads the inputs of a bundle, builds it and publishes it. `Err` contains the outcome of a
    /// build that ends early.
    async fn build_and_publish(
        &self,
        claim: &Claim,
        slot: Permit,
        progress: &mut Progress,
    ) -> Result<BuildOutcome, BuildOutcome> {
        self.check_crashes(claim, &mut progress.name).await?;
        let record = Record::read(&claim.published);
        let is_current = |record: &Record| record.is_current(&self.builder, claim);
        let bundle_only = record.as_ref().is_some_and(is_current);
        let inputs = self.load_inputs(claim, bundle_only).await?;
        inputs.job.name.clone_into(&mut progress.name);
        let publish = async {
            let job = &inputs.job;
            let destination = self.claim_destination(claim, job, progress).await?;
            let record = record.filter(|record| record.place == destination.digest);
            let built = self.build(claim, slot, inputs, record, &destination).await;
            let built = built.inspect_err(|_| {
                // Nothing was written to these locations.
                progress.places.clear();
            })?;
            self.publish(claim, &built, destination).await
        };
        let published = tokio::time::timeout(BUILD_TIMEOUT, publish).await;
        published.unwrap_or_else(|_| {
            let message = format!("the build took longer than {} s", BUILD_TIMEOUT.as_secs());
            Err(self.internal_error(claim, &message))
        })
    }

    /// Refuses a build if too many processes have crashed during builds of the bundle.
    async fn check_crashes(&self, claim: &Claim, name: &mut String) -> Result<(), BuildOutcome> {
        if claim.deaths == 0 {
            return Ok(());
        }
        match self.control.store.bundle(claim.bundle).await {
            Ok(Some(inputs)) => *name = inputs.name,
            Ok(None) => return Err(BuildOutcome::Deleted),
            Err(failure) => return Err(self.server_failure(claim, Phase::Sync, &failure)),
        }
        if claim.deaths < MAX_DEATHS {
            warn!(
                bundle = name,
                "the process ended while it built this bundle; it is tried once more, alone"
            );
            return Ok(());
        }
        let message = format!(
            "the process ended {MAX_DEATHS} times while it built this bundle, which is not built \
             again before a definition that it is made of is written: its own, or that of a \
             source, a stack or a secret"
        );
        let mut outcome = self.internal_error(claim, &message);
        if let BuildOutcome::Failed {
            retry, condemned, ..
        } = &mut outcome
        {
            (*retry, *condemned) = (None, true);
        }
        Err(outcome)
    }

    /// Builds an archive. If the storage still has the one built from the same files, that is the
    /// outcome. `record` describes the last written archive.
    async fn build(
        &self,
        claim: &Claim,
        mut slot: Permit,
        mut inputs: Inputs,
        mut record: Option<Record>,
        destination: &Destination,
    ) -> Result<BuiltBundle, BuildOutcome> {
        loop {
            if let Some(built) = self.build_archive(claim, &inputs, record.as_ref()).await? {
                return Ok(self.built_bundle(claim, slot, inputs, record.as_ref(), built));
            }
            let stored = inputs.digest.take();
            // Frees memory: storages may be slow, and sources large.
            inputs.job.sources.clear();
            let upload = self.slots.upload(slot, 0);
            if let Some(record) = record.take()
                && let storage = &destination.storage
                && storage.contains(&record.archive, &record.identity).await
            {
                self.control.metrics.uploaded(Upload::Unchanged);
                return Err(self.unchanged(claim, &inputs.job, record, stored));
            }
            // The storage lacks the archive, or cannot confirm it, so it is built again.
            drop(upload);
            slot = self.slots.wait(&claim.tenant).await;
            inputs = self.load_inputs(claim, false).await?;
        }
    }

    /// Builds an archive, unless the inputs are known to be those of the record.
    async fn build_archive(
        &self,
        claim: &Claim,
        inputs: &Inputs,
        record: Option<&Record>,
    ) -> Result<Option<Built>, BuildOutcome> {
        let Some(digest) = &inputs.digest else {
            return Ok(None);
        };
        let known = record.and_then(|record| record.files(&self.builder, digest));
        let folder = self.work.of_bundle(claim.bundle);
        let synced = |source: &str, is_read| self.control.metrics.synced(source, is_read);
        let access = &self.settings.access;
        let built = builder::build(&inputs.job, access, &folder, &synced, known).await;
        built.map_err(|failure| self.not_built(claim, &inputs.job, failure))
    }

    /// Prepares a built archive to be published, and exchanges the build slot for an upload permit.
    fn built_bundle(
        &self,
        claim: &Claim,
        slot: Permit,
        inputs: Inputs,
        record: Option<&Record>,
        built: Built,
    ) -> BuiltBundle {
        let mut job = inputs.job;
        debug!(bundle = job.name, commits = ?built.commits, "sources read");
        let options = job.bundle.options.as_ref();
        if claim.published.is_empty() && options.is_some_and(BuildOptions::optimizes) {
            info!(
                bundle = job.name,
                "options.optimization has no effect: policies stay as they are written"
            );
        }
        let is_same = |record: &Record| record.archive == digest(&built.archive);
        if built.owns_all && !record.is_some_and(is_same) {
            warn!(
                bundle = job.name,
                "the bundle has the root of all documents: an engine that loads it drops \
                 the policies and documents of its files, also an authorization policy"
            );
        }
        let origin = built.fingerprint.zip(inputs.digest);
        let origin = origin.map(|(files, stored)| Origin {
            builder: self.builder.clone(),
            wanted: claim.wanted,
            stored,
            files,
        });
        // Frees memory: storages may be slow, and sources large.
        job.sources.clear();
        BuiltBundle {
            _upload: self.slots.upload(slot, built.archive.len()),
            job,
            archive: Bytes::from(built.archive),
            revision: built.revision,
            origin,
        }
    }

    /// Records the outcome of a build, repeatedly until the database does so: a claim without a
    /// recorded outcome would mean that this process crashed.
    async fn record(
        &self,
        claim: &Claim,
        progress: &Progress,
        outcome: &BuildOutcome,
        span: &Span,
        mut given_up: watch::Receiver<()>,
    ) {
        let Progress { name, places } = progress;
        let store = &self.control.store;
        if let Err(failure) = with_timeout(store.rewrite_others(claim.bundle, places)).await {
            error!(bundle = name, %failure, "cannot look up the bundle that owns the storage location");
        }
        loop {
            match with_timeout(store.finish(claim, outcome)).await {
                Ok(is_owner) => return self.log_outcome(claim, name, outcome, is_owner, span),
                Err(failure) => {
                    error!(bundle = name, %failure, "the end of a build could not be recorded");
                }
            }
            tokio::select! {
                _ = given_up.changed() => return,
                () = tokio::time::sleep(DATABASE_PAUSE) => {}
            }
        }
    }

    /// Renews the lease of a claim; returns when the bundle is lost, or when that is unknown and
    /// the lease is about to expire.
    async fn renew_lease(&self, claim: &Claim) {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(RENEWAL_INTERVAL).await;
            let sent = Instant::now();
            let renewal = self.control.store.renew(claim, LEASE);
            let remaining = LEASE.saturating_sub(LEASE_MARGIN + renewed.elapsed());
            match tokio::time::timeout(remaining, renewal).await {
                Ok(Ok(true)) => renewed = sent,
                Ok(Ok(false)) | Err(_) => return,
                Ok(Err(failure)) => warn!(%failure, "a lease could not be renewed"),
            }
        }
    }
}
