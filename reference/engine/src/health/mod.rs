//! `/health`

use http::StatusCode;
use rego::Value;
use rego::value::Object;

use http_server::Reply;

pub(super) mod get;
pub(super) mod rule;

/// 200 with an empty object.
fn healthy() -> Reply {
    Reply::document(StatusCode::OK, &Value::from(Object::new()), false)
}

/// 500 with the reason.
fn unhealthy(reason: &str) -> Reply {
    let body = Value::object([("error", Value::from(reason))]);
    Reply::document(StatusCode::INTERNAL_SERVER_ERROR, &body, false)
}
