//! Errors of storages with their context.

use object_store::Error;
use object_store::client::HttpError;

/// How the innermost reason begins when a storage answered with a status that is no success.
const STATUS: &str = "Server returned non-2xx status code: ";

/// What was asked of a storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// To say what it has.
    Read,
    /// To take a bundle.
    Write,
}

/// Why a storage did not do what it was asked, on one line.
pub(super) fn explain(failure: &Error, doing: Operation) -> String {
    let kind = match (failure, doing) {
        (Error::NotFound { .. }, _) => "the storage has no such bucket or container",
        (Error::PermissionDenied { .. }, _) => "the storage refuses the credentials",
        (Error::Unauthenticated { .. }, _) => "the storage does not know the credentials",
        (_, Operation::Read) => "the storage cannot be read",
        (_, Operation::Write) => "the storage cannot be written to",
    };
    let reason = innermost(failure);
    let words: Vec<&str> = reason.split_whitespace().collect();
    format!("{kind}: {}", words.join(" "))
}

/// Whether a storage does not know what it was asked to do: to write under a condition, or to say
/// what it has.
pub(super) fn is_unknown(failure: &Error) -> bool {
    matches!(failure, Error::NotImplemented { .. })
        || matches!(status(failure), Some(400 | 405 | 501))
}

/// Whether a storage answered, and what it said of an object has no sense.
pub(super) fn is_unusable_request(failure: &Error) -> bool {
    let mut reason: Option<&dyn std::error::Error> = Some(failure);
    while let Some(at) = reason {
        // Then there was no answer.
        if at.is::<HttpError>() {
            return false;
        }
        reason = at.source();
    }
    status(failure).is_none()
}

/// The status that a storage answered with, if it was no success.
fn status(failure: &Error) -> Option<u16> {
    let reason = innermost(failure);
    let digits = reason.strip_prefix(STATUS)?.get(..3)?;
    digits.parse().ok()
}

/// The innermost reason says most; the others repeat it with an address around it.
fn innermost(failure: &Error) -> String {
    let mut reason: &dyn std::error::Error = failure;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    reason.to_string()
}
