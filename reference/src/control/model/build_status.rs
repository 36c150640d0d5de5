//! Build results.

/// The steps of a build, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Sources are fetched.
    Sync,
    /// Fetched documents are transformed.
    Transform,
    /// The archive is made.
    Build,
    /// The archive is written to the storage.
    Push,
}

impl Phase {
    /// The phase as it is stored and shown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sync => "SYNC",
            Self::Transform => "TRANSFORM",
            Self::Build => "BUILD",
            Self::Push => "PUSH",
        }
    }
}

/// How a build ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuildResult {
    /// The bundle is in its storage.
    Success,
    /// A source could not be had.
    SyncFailed,
    /// A transformation failed.
    TransformFailed,
    /// The sources do not make a bundle.
    BuildFailed,
    /// The storage did not take the bundle.
    PushFailed,
    /// The definitions contradict each other or ask for what is not there.
    ConfigError,
    /// The server failed.
    InternalError,
}

impl BuildResult {
    /// The result as it is stored and shown.
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
