//! Start errors.

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The command line is wrong, or asks only for help or the version.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// Something that the command line names cannot be used.
    #[error("{0}")]
    Refused(String),
}

impl StartError {
    /// Something that the command line names cannot be used.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}
