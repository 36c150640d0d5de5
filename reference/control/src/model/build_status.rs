//! Build results.

/// Phases of a build, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Fetching the sources.
    Sync,
    /// Transforming documents of datasources.
    Transform,
    /// Creating the archive.
    Build,
    /// Writing the archive to the storage.
    Push,
}

impl Phase {
    /// Returns the name of the phase, as in the database and in responses.
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
    /// The definitions contradict each other or reference a missing definition.
    ConfigError,
    /// Internal error of the server.
    InternalError,
}

impl BuildResult {
    /// Returns the name of the result, as in the database and in responses.
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
