//! The only mapping of errors to statuses, codes and bodies.

use http::StatusCode;
use serde_json::{Value, json};

use super::budget::Spent;
use super::reply::Reply;
use crate::control::cipher::CipherError;
use crate::control::model::Invalid;
use crate::control::store;
use crate::engine::StoreError;

/// When a client that was answered 503 should ask again, in seconds.
const RETRY_SECONDS: u32 = 1;

/// A documented error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// 400: the request cannot be used.
    InvalidParameter,
    /// 400: the request is sound, but carrying it out would break something.
    InvalidOperation,
    /// 401: the authorization policy refuses the request.
    Unauthorized,
    /// 403: the caller may not do this.
    NotAuthorized,
    /// 404: the control plane has no such thing.
    NotFound,
    /// 404: the engine has no such policy or document.
    ResourceNotFound,
    /// 404: a document stands in the way.
    ResourceConflict,
    /// 404: `/v0` and `/` found no value.
    UndefinedDocument,
    /// 400: the policy cannot be evaluated as the request asks.
    EvaluationError,
    /// 406: the client accepts no form of the answer.
    NotAcceptable,
    /// 409: the thing is in use, or exists already.
    Conflict,
    /// 422: a definition names something that does not exist.
    InvalidReference,
    /// 500: the server failed.
    InternalError,
    /// 503: the server cannot do it now, but may in a moment.
    Unavailable,
}

impl Code {
    /// The code as it is written in an error object.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidParameter => "invalid_parameter",
            Self::InvalidOperation => "invalid_operation",
            Self::Unauthorized => "unauthorized",
            Self::NotAuthorized => "not_authorized",
            Self::NotFound => "not_found",
            Self::ResourceNotFound => "resource_not_found",
            Self::ResourceConflict => "resource_conflict",
            Self::UndefinedDocument => "undefined_document",
            Self::EvaluationError => "evaluation_error",
            // The document knows no code of its own for it.
            Self::NotAcceptable => "invalid_parameter",
            Self::Conflict => "conflict",
            Self::InvalidReference => "invalid_reference",
            Self::InternalError => "internal_error",
            Self::Unavailable => "unavailable",
        }
    }

    /// The status that goes with the code.
    pub fn status(self) -> StatusCode {
        match self {
            Self::InvalidParameter | Self::InvalidOperation | Self::EvaluationError => {
                StatusCode::BAD_REQUEST
            }
            Self::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotAuthorized => StatusCode::FORBIDDEN,
            Self::NotFound
            | Self::ResourceNotFound
            | Self::ResourceConflict
            | Self::UndefinedDocument => StatusCode::NOT_FOUND,
            Self::Conflict => StatusCode::CONFLICT,
            Self::InvalidReference => StatusCode::UNPROCESSABLE_ENTITY,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// An error as the client sees it; what only the log may know is logged where it happens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.name())]
pub struct ApiError {
    /// The code, which decides the status.
    pub code: Code,
    /// What is wrong, for the client.
    pub message: String,
    /// Details with locations, as the error object's `errors`.
    pub errors: Vec<Value>,
}

impl ApiError {
    /// An error with its message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            errors: Vec::new(),
        }
    }

    /// 400 `invalid_parameter`.
    pub fn invalid_parameter(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidParameter, message)
    }

    /// The error object, indented as every error is.
    pub fn reply(&self) -> Reply {
        let mut object = json!({"code": self.code.name(), "message": self.message});
        if let (false, Some(object)) = (self.errors.is_empty(), object.as_object_mut()) {
            object.insert("errors".to_owned(), Value::Array(self.errors.clone()));
        }
        let reply = Reply::json(self.code.status(), &object, true);
        match self.code {
            Code::Unavailable => reply.retry_after(RETRY_SECONDS),
            _ => reply,
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::NotFound(_) => Code::ResourceNotFound,
            StoreError::Conflict(_) => Code::ResourceConflict,
            StoreError::RootRemoved | StoreError::RootNotObject | StoreError::PathTooLong => {
                Code::InvalidParameter
            }
        };
        Self::new(code, error.to_string())
    }
}

impl From<Spent> for ApiError {
    fn from(spent: Spent) -> Self {
        Self::new(Code::Unavailable, spent.to_string())
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        Self::invalid_parameter(invalid.to_string())
    }
}

impl From<store::StoreError> for ApiError {
    fn from(failure: store::StoreError) -> Self {
        if let Some(trouble) = failure.trouble().filter(|trouble| trouble.may_pass()) {
            tracing::warn!(%failure, "the database cannot be used");
            return Self::new(Code::Unavailable, trouble.to_string());
        }
        let code = match failure {
            store::StoreError::NotAuthorized | store::StoreError::SharedByOthers => {
                Code::NotAuthorized
            }
            store::StoreError::NotFound(_) => Code::NotFound,
            store::StoreError::InUse { .. } | store::StoreError::PlaceTaken { .. } => {
                Code::Conflict
            }
            store::StoreError::MissingReference { .. } => Code::InvalidReference,
            store::StoreError::KeyRotated => Code::Unavailable,
            store::StoreError::Newer
            | store::StoreError::TooLarge(_)
            | store::StoreError::Unreadable(_)
            | store::StoreError::Database(_) => {
                tracing::error!(%failure, "the store failed");
                return Self::new(Code::InternalError, "the server failed");
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
        Self::new(Code::InternalError, "the server failed")
    }
}
