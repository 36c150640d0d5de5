//! Responses of the shim.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

/// A complete response.
pub(super) type Answer = Response<Full<Bytes>>;

/// Returns a response with status 200 and a JSON body.
pub(super) fn json(value: &Value) -> Answer {
    json_of(StatusCode::OK, value)
}

/// Returns a response with status 204 and no body.
pub(super) fn done() -> Answer {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}

/// Returns an error response with this status, code and message.
pub(super) fn refused(status: StatusCode, code: &str, message: &str) -> Answer {
    json_of(status, &json!({"code": code, "message": message}))
}

/// Returns a response with status 400, for an unreadable request.
pub(super) fn invalid(message: &str) -> Answer {
    refused(StatusCode::BAD_REQUEST, "invalid_parameter", message)
}

/// Returns a response with status 404, for a missing resource.
pub(super) fn absent(message: &str) -> Answer {
    refused(StatusCode::NOT_FOUND, "resource_not_found", message)
}

fn json_of(status: StatusCode, value: &Value) -> Answer {
    let mut answer = Response::new(Full::from(value.to_string()));
    *answer.status_mut() = status;
    let media_type = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, media_type);
    answer
}
