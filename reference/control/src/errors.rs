//! Error responses of the control plane.

use super::cipher::CipherError;
use super::model::ValidationError;
use super::store::{DatabaseError, StoreError};
use http_server::{ApiError, Code};

impl From<ValidationError> for ApiError {
    fn from(invalid: ValidationError) -> Self {
        Self::invalid_parameter(invalid.to_string())
    }
}

impl From<StoreError> for ApiError {
    fn from(failure: StoreError) -> Self {
        if let Some(database_failure) = failure
            .database_failure()
            .filter(|database_failure| database_failure.is_transient())
        {
            tracing::warn!(%failure, "the database cannot be used");
            return Self::new(Code::Unavailable, database_failure.to_string());
        }
        let code = match failure {
            StoreError::NotAuthorized | StoreError::SharedByOthers => Code::NotAuthorized,
            StoreError::NotFound(_) => Code::NotFound,
            StoreError::InUse { .. } | StoreError::PlaceTaken { .. } => Code::Conflict,
            StoreError::MissingReference { .. } => Code::InvalidReference,
            StoreError::KeyRotated | StoreError::Silent => Code::Unavailable,
            StoreError::Newer
            | StoreError::TooLarge(_)
            | StoreError::Unreadable(_)
            | StoreError::Database(_) => {
                tracing::error!(%failure, "the store failed");
                return Self::server_failed();
            }
        };
        Self::new(code, failure.to_string())
    }
}

impl From<CipherError> for ApiError {
    fn from(failure: CipherError) -> Self {
        tracing::error!(%failure, "a secret could not be sealed");
        if matches!(failure, CipherError::Rotated) {
            return Self::new(Code::Unavailable, failure.to_string());
        }
        Self::server_failed()
    }
}

/// 400: a segment of the path is `.` or `..`.
pub(super) fn dots() -> ApiError {
    ApiError::invalid_parameter("invalid path: expected no segment `.` or `..`")
}

/// 404: a name in the path is empty.
pub(super) fn nameless() -> ApiError {
    ApiError::new(Code::NotFound, "the path names nothing")
}

/// 404: no build of the bundle has finished.
pub(super) fn never_built(bundle: &str) -> ApiError {
    let message = format!("bundle `{bundle}` has not been built yet");
    ApiError::new(Code::NotFound, message)
}

/// 403: the object or file of a bundle is not below the prefix of its owner.
pub(super) fn outside_prefix(owner: &str, prefix: &str) -> ApiError {
    let message = format!("bundles of `{owner}` lie below `{prefix}`");
    ApiError::new(Code::NotAuthorized, message)
}

/// 500: the database cannot be used; the message is that of the health endpoint.
pub(super) fn unhealthy(database_failure: DatabaseError) -> ApiError {
    ApiError::new(Code::InternalError, database_failure.to_string())
}

/// 503: the disk that contains the file of a bundle does not respond in time.
pub(super) fn folder_silent() -> ApiError {
    let message = "the folder of the bundle does not answer";
    ApiError::new(Code::Unavailable, message)
}

/// 503: the database does not respond in time.
pub(super) fn silent() -> ApiError {
    ApiError::new(Code::Unavailable, DatabaseError::Silent.to_string())
}
