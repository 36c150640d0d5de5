//! Why a schema cannot be compiled.

use super::super::Failure;

/// Why a schema cannot be compiled.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is not a schema, with the message that clients see.
    Schema(String),
    /// The call fails for another reason.
    Failure(Failure),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// The fault of a schema, with this message.
pub(super) fn wrong<T>(message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Schema(message.into()))
}

/// The fault of a keyword that has another type.
pub(super) fn mistyped<T>(expected: &str, keyword: &str) -> Result<T, Fault> {
    wrong(format!(
        "Invalid type. Expected: {expected}, given: {keyword}"
    ))
}
