//! Build errors.

use std::fmt;

use crate::model::{BuildResult, Phase};

/// Reason why a bundle could not be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildError {
    /// Phase of the build.
    pub(crate) phase: Phase,
    /// Result of the build.
    pub(crate) result: BuildResult,
    /// Human-readable description of the error and its location.
    pub(crate) message: String,
    /// Whether the evaluations of the build exhausted their budget: a retry would fail the same
    /// way.
    pub(crate) exhausted: bool,
}

impl BuildError {
    /// Creates the error for a source that cannot be fetched.
    pub(super) fn sync(message: impl ToString) -> Self {
        Self::new(Phase::Sync, BuildResult::SyncFailed, message)
    }

    /// Creates the error for a failed transformation.
    pub(super) fn transform(message: impl ToString) -> Self {
        Self::new(Phase::Transform, BuildResult::TransformFailed, message)
    }

    /// Creates the error for sources that do not form a valid bundle.
    pub(super) fn build(message: impl ToString) -> Self {
        Self::new(Phase::Build, BuildResult::BuildFailed, message)
    }

    /// Creates the error for definitions that contradict each other, are not allowed, or reference
    /// something that does not exist.
    pub(super) fn config(message: impl ToString) -> Self {
        Self::new(Phase::Sync, BuildResult::ConfigError, message)
    }

    /// Creates the error for an internal failure of the server.
    pub(super) fn internal(message: impl ToString) -> Self {
        Self::new(Phase::Build, BuildResult::InternalError, message)
    }

    /// Adds context to the message.
    pub(super) fn within(self, context: &str) -> Self {
        let message = format!("{context}: {}", self.message);
        Self { message, ..self }
    }

    fn new(phase: Phase, result: BuildResult, message: impl ToString) -> Self {
        Self {
            phase,
            result,
            message: message.to_string(),
            exhausted: false,
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.result.name(), self.message)
    }
}

impl std::error::Error for BuildError {}
