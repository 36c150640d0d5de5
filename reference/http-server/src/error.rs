//! API errors: codes with their statuses and bodies, to which each server maps its own errors.

use http::StatusCode;
use rego::Value;
use rego::value::Object;

use super::memory_budget::OutOfMemory;
use super::reply::Reply;
use super::response_body::BodyError;

/// Retry delay of 503 responses, in seconds.
const RETRY_SECONDS: u32 = 1;

/// A documented error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    /// 400: the request is invalid.
    InvalidParameter,
    /// 400: the request is valid, but its effect would break something.
    InvalidOperation,
    /// 401: the authorization policy refuses the request.
    Unauthorized,
    /// 403: the caller lacks permission.
    NotAuthorized,
    /// 404: the control plane has no such resource.
    NotFound,
    /// 404: the engine has no such policy or document.
    ResourceNotFound,
    /// 404: a document conflicts with the path.
    ResourceConflict,
    /// 404: `/v0` and `/` found no value.
    UndefinedDocument,
    /// 400: the policy cannot be evaluated as requested.
    EvaluationError,
    /// 406: the client accepts no available media type.
    NotAcceptable,
    /// 409: the resource is in use, or exists already.
    Conflict,
    /// 422: a definition refers to something that does not exist.
    InvalidReference,
    /// 500: the server failed.
    InternalError,
    /// 503: the server is temporarily unable to respond.
    Unavailable,
}

impl Code {
    /// Name of the code in an error object.
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
            // The specification defines no separate code for status 406.
            Self::NotAcceptable => "invalid_parameter",
            Self::Conflict => "conflict",
            Self::InvalidReference => "invalid_reference",
            Self::InternalError => "internal_error",
            Self::Unavailable => "unavailable",
        }
    }

    /// HTTP status of the code.
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

/// Error as the client sees it; confidential details are logged where they occur.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.name())]
pub struct ApiError {
    /// Code, which determines the status.
    pub code: Code,
    /// Description of the error, for the client.
    pub message: String,
    /// Details with locations, the error object's `errors`.
    pub errors: Vec<Value>,
}

impl ApiError {
    /// Creates an error with a message.
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

    /// 500 `internal_error` for a failure whose details are only logged.
    pub fn server_failed() -> Self {
        Self::new(Code::InternalError, "the server failed")
    }

    /// Error object, as in the body of a response.
    pub fn object(&self) -> Object {
        let mut object = Object::new();
        object.insert("code", Value::from(self.code.name()));
        object.insert("message", Value::from(self.message.as_str()));
        if !self.errors.is_empty() {
            object.insert("errors", Value::from(self.errors.clone()));
        }
        object
    }

    /// Response with the error object, indented like every error.
    pub fn reply(&self) -> Reply {
        let object = Value::from(self.object());
        let reply = Reply::document(self.code.status(), &object, true);
        match self.code {
            Code::Unavailable => reply.retry_after(RETRY_SECONDS),
            _ => reply,
        }
    }
}

impl From<BodyError> for ApiError {
    fn from(failure: BodyError) -> Self {
        Self::new(Code::InternalError, failure.to_string())
    }
}

impl From<OutOfMemory> for ApiError {
    fn from(spent: OutOfMemory) -> Self {
        Self::new(Code::Unavailable, spent.to_string())
    }
}
