//! `/v1/data`

use http::StatusCode;
use rego::Value;

use crate::engine::metrics::Metrics;
use crate::engine::state::Contents;
use crate::engine::store;
use crate::http::{ApiError, Code, Reply};

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

/// Refuses what was written at a path where rules define documents.
fn without_conflict(contents: &Contents, path: &[String], code: Code) -> Result<(), ApiError> {
    let Some(document) = store::find(&contents.documents, path) else {
        return Ok(());
    };
    let steps: Vec<Value> = path.iter().map(|step| Value::from(step.as_str())).collect();
    let checked = contents.policy.conflicts(&steps, document);
    checked.map_err(|errors| ApiError::new(code, errors.to_string()))
}
