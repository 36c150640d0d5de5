//! Reasons for which a submission is not accepted.

/// Why a submission is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The folder cannot be read.
    #[error("{0}")]
    Folder(String),
    /// A file cannot be read, is missing, or does not belong to a submission.
    #[error("{0}: {1}")]
    File(String, String),
    /// The evidence does not contain a complete run.
    #[error("the evidence is cut: {0}")]
    Cut(String),
    /// No run can have recorded the evidence.
    #[error("the evidence is not of a run: {0}")]
    Untrue(String),
    /// The evidence has no profile, or one that this program does not know or has another version
    /// of.
    #[error("the edition is foreign: {0}")]
    Edition(String),
    /// The folder's name does not match its content.
    #[error("the folder says {0}, the evidence says {1}")]
    Place(String, String),
    /// Rules have other results when judged again.
    #[error("the outcome differs: {0}")]
    Outcome(String),
    /// The report does not match the evidence.
    #[error("the report is not of this evidence: {0}")]
    Report(String),
}

impl Refused {
    pub(super) fn file(name: &str, why: &dyn std::fmt::Display) -> Self {
        Self::File(name.to_owned(), why.to_string())
    }
}
