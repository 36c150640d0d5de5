//! Errors of storages with their context.

use object_store::Error;
use object_store::client::HttpError;

/// Prefix of the innermost error when a storage responds with a non-success status.
const STATUS: &str = "Server returned non-2xx status code: ";

/// Operation on a storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Reading an object or its metadata.
    Read,
    /// Writing a bundle.
    Write,
}

/// Formats the failure of a storage operation, on one line.
pub(super) fn explain(failure: &Error, operation: Operation) -> String {
    let kind = match (failure, operation) {
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

/// Whether a storage does not support an operation: a conditional write, or a metadata request.
pub(super) fn is_unsupported(failure: &Error) -> bool {
    matches!(failure, Error::NotImplemented { .. })
        || matches!(status(failure), Some(400 | 405 | 501))
}

/// Whether a storage responded with a success status but unusable metadata.
pub(super) fn has_unusable_metadata(failure: &Error) -> bool {
    let mut reason: Option<&dyn std::error::Error> = Some(failure);
    while let Some(error) = reason {
        // There was no response.
        if error.is::<HttpError>() {
            return false;
        }
        reason = error.source();
    }
    status(failure).is_none()
}

/// Returns the status of a response, if it was not a success.
fn status(failure: &Error) -> Option<u16> {
    let reason = innermost(failure);
    let digits = reason.strip_prefix(STATUS)?.get(..3)?;
    digits.parse().ok()
}

/// Returns the innermost error, which says most; the others repeat it with a URL around it.
fn innermost(failure: &Error) -> String {
    let mut reason: &dyn std::error::Error = failure;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    reason.to_string()
}
