//! API errors: codes with their statuses and bodies, to which each server maps its own errors.

use http::StatusCode;
use rego::Value;
use rego::value::Object;

use super::memory_budget::OutOfMemory;
use super::reply::Reply;
use super::response_body::Unwritable;

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

    /// 500 `internal_error` for a failure of which only the log may know more.
    pub fn server_failed() -> Self {
        Self::new(Code::InternalError, "the server failed")
    }

    /// The error object.
    pub fn object(&self) -> Object {
        let mut object = Object::new();
        object.insert("code", Value::from(self.code.name()));
        object.insert("message", Value::from(self.message.as_str()));
        if !self.errors.is_empty() {
            object.insert("errors", Value::from(self.errors.clone()));
        }
        object
    }

    /// The error object as an answer, indented as every error is.
    pub fn reply(&self) -> Reply {
        let object = Value::from(self.object());
        let reply = Reply::document(self.code.status(), &object, true);
        match self.code {
            Code::Unavailable => reply.retry_after(RETRY_SECONDS),
            _ => reply,
        }
    }
}

impl From<Unwritable> for ApiError {
    fn from(failure: Unwritable) -> Self {
        Self::new(Code::InternalError, failure.to_string())
    }
}

impl From<OutOfMemory> for ApiError {
    fn from(spent: OutOfMemory) -> Self {
        Self::new(Code::Unavailable, spent.to_string())
    }
}
