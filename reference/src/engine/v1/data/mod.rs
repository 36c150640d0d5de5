//! `/v1/data`

use http::StatusCode;
use rego::Value;

use super::super::metrics::Metrics;
use crate::http::Reply;

pub(in crate::engine) mod delete;
pub(in crate::engine) mod get;
pub(in crate::engine) mod patch;
pub(in crate::engine) mod post;
pub(in crate::engine) mod put;

/// 204 after a write, or 200 with the metrics that were asked for.
fn written(metrics: Metrics) -> Reply {
    if !metrics.asked() {
        return Reply::empty(StatusCode::NO_CONTENT);
    }
    let body = Value::object([("metrics", metrics.finish())]);
    Reply::document(StatusCode::OK, &body, false)
}
