//! Errors of schema compilation.

use super::super::Failure;

/// Error of schema compilation.
#[derive(Debug)]
pub(super) enum Fault {
    /// The document is not a schema; contains the message that clients see.
    Schema(String),
    /// The call fails for another reason.
    Failure(Failure),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Fails because of an invalid schema, with this message.
pub(super) fn invalid_schema<T>(message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Schema(message.into()))
}

/// Fails because a keyword has the wrong type.
pub(super) fn mistyped<T>(expected: &str, keyword: &str) -> Result<T, Fault> {
    invalid_schema(format!(
        "Invalid type. Expected: {expected}, given: {keyword}"
    ))
}
