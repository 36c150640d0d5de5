//! Outcomes of builds, and their log.

use std::error::Error;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use tracing::{debug, error, info, warn};

use super::Shared;
use super::build_cache::Record;
use crate::builder::{BuildError, Job};
use crate::model::{BuildResult, Phase};
use crate::redact::{redact, shorten};
use crate::storage::StorageError;
use crate::store::{BuildOutcome, Claim, Status};
use http_server::units::milliseconds;

/// Delay before the retry after a first failure; doubles with each further one, up to the interval.
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// Time span of a build.
pub(super) struct Span {
    pub(super) began: DateTime<Utc>,
    pub(super) elapsed: Duration,
}

impl Shared {
    /// Returns the outcome of a build that was not needed.
    pub(super) fn unchanged(
        &self,
        claim: &Claim,
        job: &Job,
        mut record: Record,
        stored: Option<String>,
    ) -> BuildOutcome {
        if let Some(origin) = &mut record.origin {
            origin.wanted = claim.wanted;
            origin.stored = stored.unwrap_or_else(|| origin.stored.clone());
        }
        self.published(claim, job, record, None)
    }

    /// Returns the outcome of a build that succeeded. `defect` describes the stored object that had
    /// to be replaced, if any.
    pub(super) fn published(
        &self,
        claim: &Claim,
        job: &Job,
        record: Record,
        defect: Option<&str>,
    ) -> BuildOutcome {
        let written = match serde_json::to_string(&record) {
            Ok(written) => written,
            Err(failure) => return self.server_failure(claim, Phase::Push, &failure),
        };
        let revision = record.revision;
        let message = defect.map(|defect| {
            warn!(
                bundle = job.name,
                revision, "the storage {defect}; bundle written again"
            );
            let time = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
            format!("written again at {time}, because the storage {defect}")
        });
        BuildOutcome::Published {
            status: Status {
                revision,
                phase: Phase::Push,
                result: BuildResult::Success,
                message: message.unwrap_or_default(),
            },
            record: written,
            next: Some(self.settings.interval_of(&job.bundle)),
        }
    }

    /// Returns the outcome of a build that failed before publishing.
    pub(super) fn not_built(&self, claim: &Claim, job: &Job, failure: BuildError) -> BuildOutcome {
        let mut outcome = self.failed(claim, failure.phase, failure.result, &failure.message);
        if let BuildOutcome::Failed { retry, .. } = &mut outcome
            && failure.exhausted
        {
            // A retry would fail the same way, and other bundles wait for the builders.
            *retry = Some(self.settings.interval_of(&job.bundle));
        }
        outcome
    }

    /// Returns the outcome of a build whose archive was not written. `revision` is that of the
    /// archive; empty if it was not built.
    pub(super) fn not_stored(
        &self,
        claim: &Claim,
        job: &Job,
        revision: &str,
        failure: &StorageError,
    ) -> BuildOutcome {
        let result = match failure {
            StorageError::Config(_) => BuildResult::ConfigError,
            StorageError::Push(_) => BuildResult::PushFailed,
        };
        // Responses of storages may repeat parts of the request.
        let message = redact(failure.to_string(), job.all_secrets());
        let mut outcome = self.failed(claim, Phase::Push, result, &message);
        if let BuildOutcome::Failed { status, .. } = &mut outcome {
            revision.clone_into(&mut status.revision);
        }
        outcome
    }

    /// Returns the outcome of a build after a failure of the server; only the log has the reason.
    pub(super) fn server_failure(
        &self,
        claim: &Claim,
        phase: Phase,
        failure: &dyn Error,
    ) -> BuildOutcome {
        error!(bundle = claim.bundle, %failure, "the server cannot build");
        self.failed(
            claim,
            phase,
            BuildResult::InternalError,
            "the server failed",
        )
    }

    /// Returns the outcome of a build that ended with an internal error of this description.
    pub(super) fn internal_error(&self, claim: &Claim, message: &str) -> BuildOutcome {
        self.failed(claim, Phase::Build, BuildResult::InternalError, message)
    }

    /// Returns the outcome of a failed build; the previously published bundle stays.
    pub(super) fn failed(
        &self,
        claim: &Claim,
        phase: Phase,
        result: BuildResult,
        message: &str,
    ) -> BuildOutcome {
        let backoff = FIRST_RETRY.saturating_mul(1 << claim.failures.min(16));
        BuildOutcome::Failed {
            status: Status {
                revision: String::new(),
                phase,
                result,
                message: shorten(message),
            },
            retry: Some(backoff.min(self.settings.interval.max(FIRST_RETRY))),
            condemned: false,
        }
    }

    /// Logs and counts a recorded outcome. `is_owner`: whether the bundle was still this replica's.
    pub(super) fn log_outcome(
        &self,
        claim: &Claim,
        name: &str,
        outcome: &BuildOutcome,
        is_owner: bool,
        span: &Span,
    ) {
        let duration_ms = milliseconds(span.elapsed);
        match outcome {
            _ if !is_owner => warn!(bundle = name, "a build has lost its bundle"),
            BuildOutcome::Published { status, record, .. } => {
                let revision = &status.revision;
                self.control
                    .metrics
                    .built(name, status.result, span.elapsed);
                let previous = Record::read(&claim.published).zip(Record::read(record));
                if previous.is_some_and(|(previous, written)| previous.is_same(&written)) {
                    debug!(bundle = name, revision, duration_ms, "bundle unchanged");
                } else {
                    let began = span.began.to_rfc3339_opts(SecondsFormat::Micros, true);
                    info!(bundle = name, revision, began, duration_ms, "bundle built");
                }
            }
            BuildOutcome::Failed { status, .. } => {
                self.control
                    .metrics
                    .built(name, status.result, span.elapsed);
                let (revision, message) = (&status.revision, &status.message);
                let (phase, status) = (status.phase.name(), status.result.name());
                warn!(
                    bundle = name,
                    revision, phase, status, message, duration_ms, "build failed"
                );
            }
            BuildOutcome::Abandoned => info!(bundle = name, "build given up"),
            BuildOutcome::Deleted | BuildOutcome::Lost => {}
        }
    }
}
