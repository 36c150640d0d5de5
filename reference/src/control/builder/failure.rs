//! Why a bundle could not be built.

use std::fmt;

/// The steps of a build, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Sources are fetched.
    Sync,
    /// Fetched documents are transformed.
    Transform,
    /// The archive is made.
    Build,
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// A source could not be had.
    SyncFailed,
    /// A transformation failed.
    TransformFailed,
    /// The sources do not make a bundle.
    BuildFailed,
    /// The definitions contradict each other or ask for what is not there.
    ConfigError,
    /// The server failed.
    InternalError,
}

/// Why a bundle could not be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildError {
    /// The step.
    pub(crate) phase: Phase,
    /// The kind.
    pub(crate) status: Status,
    /// What is wrong and where, for people.
    pub(crate) message: String,
}

impl Phase {
    /// The phase as it is stored and shown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sync => "SYNC",
            Self::Transform => "TRANSFORM",
            Self::Build => "BUILD",
        }
    }
}

impl Status {
    /// The status as it is stored and shown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SyncFailed => "SYNC_FAILED",
            Self::TransformFailed => "TRANSFORM_FAILED",
            Self::BuildFailed => "BUILD_FAILED",
            Self::ConfigError => "CONFIG_ERROR",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }
}

impl BuildError {
    /// A source could not be had.
    pub(super) fn sync(message: impl Into<String>) -> Self {
        Self::new(Phase::Sync, Status::SyncFailed, message)
    }

    /// A transformation failed.
    pub(super) fn transform(message: impl Into<String>) -> Self {
        Self::new(Phase::Transform, Status::TransformFailed, message)
    }

    /// The sources do not make a bundle.
    pub(super) fn build(message: impl Into<String>) -> Self {
        Self::new(Phase::Build, Status::BuildFailed, message)
    }

    /// The definitions contradict each other or ask for what is not there.
    pub(super) fn config(message: impl Into<String>) -> Self {
        Self::new(Phase::Sync, Status::ConfigError, message)
    }

    /// The server failed.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(Phase::Build, Status::InternalError, message)
    }

    fn new(phase: Phase, status: Status, message: impl Into<String>) -> Self {
        Self {
            phase,
            status,
            message: message.into(),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status.name(), self.message)
    }
}

impl std::error::Error for BuildError {}
