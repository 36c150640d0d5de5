//! Start errors.

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The command line is invalid, or asks only for help or the version.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// Something that the command line names cannot be used.
    #[error("{0}")]
    Refused(String),
}

impl StartError {
    /// Creates an error about something on the command line that cannot be used.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}
