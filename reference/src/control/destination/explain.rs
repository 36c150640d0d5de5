//! What storages answer.

use object_store::Error;

/// Why a storage did not take a bundle, on one line.
pub(super) fn explain(failure: &Error) -> String {
    let kind = match failure {
        Error::NotFound { .. } => "the storage has no such bucket or container",
        Error::PermissionDenied { .. } => "the storage refuses the credentials",
        Error::Unauthenticated { .. } => "the storage does not know the credentials",
        _ => "the storage cannot be written to",
    };
    // The innermost reason says most; the others repeat it with an address around it.
    let mut reason: &dyn std::error::Error = failure;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    let reason = reason.to_string();
    let words: Vec<&str> = reason.split_whitespace().collect();
    format!("{kind}: {}", words.join(" "))
}
