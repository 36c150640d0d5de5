//! Build errors.

use std::fmt;

use crate::control::model::{BuildResult, Phase};

/// Why a bundle could not be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildError {
    /// The step.
    pub(crate) phase: Phase,
    /// The kind.
    pub(crate) result: BuildResult,
    /// What is wrong and where, for people.
    pub(crate) message: String,
    /// Whether its evaluations have used up what they may use: the same again comes to the same.
    pub(crate) exhausted: bool,
}

impl BuildError {
    /// A source could not be had.
    pub(super) fn sync(message: impl Into<String>) -> Self {
        Self::new(Phase::Sync, BuildResult::SyncFailed, message)
    }

    /// A transformation failed.
    pub(super) fn transform(message: impl Into<String>) -> Self {
        Self::new(Phase::Transform, BuildResult::TransformFailed, message)
    }

    /// The sources do not make a bundle.
    pub(super) fn build(message: impl Into<String>) -> Self {
        Self::new(Phase::Build, BuildResult::BuildFailed, message)
    }

    /// The definitions contradict each other or ask for what is not there.
    pub(super) fn config(message: impl Into<String>) -> Self {
        Self::new(Phase::Sync, BuildResult::ConfigError, message)
    }

    /// The server failed.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(Phase::Build, BuildResult::InternalError, message)
    }

    fn new(phase: Phase, result: BuildResult, message: impl Into<String>) -> Self {
        Self {
            phase,
            result,
            message: message.into(),
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
