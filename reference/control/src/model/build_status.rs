//! Build results.

/// Phases of a build, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Fetching sources.
    Sync,
    /// Transforming fetched documents.
    Transform,
    /// Creating the archive.
    Build,
    /// Writing the archive to the storage.
    Push,
}

impl Phase {
    /// Returns the phase as it is stored and shown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sync => "SYNC",
            Self::Transform => "TRANSFORM",
            Self::Build => "BUILD",
            Self::Push => "PUSH",
        }
    }
}

/// Result of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuildResult {
    /// The bundle was written to its storage.
    Success,
    /// A source could not be fetched.
    SyncFailed,
    /// A transformation failed.
    TransformFailed,
    /// The sources do not form a valid bundle.
    BuildFailed,
    /// Writing the bundle to the storage failed.
    PushFailed,
    /// The definitions contradict each other or reference something that does not exist.
    ConfigError,
    /// Internal error of the server.
    InternalError,
}

impl BuildResult {
    /// Returns the result as it is stored and shown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::SyncFailed => "SYNC_FAILED",
            Self::TransformFailed => "TRANSFORM_FAILED",
            Self::BuildFailed => "BUILD_FAILED",
            Self::PushFailed => "PUSH_FAILED",
            Self::ConfigError => "CONFIG_ERROR",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }
}
