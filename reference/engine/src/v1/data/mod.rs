//! `/v1/data`

use http::StatusCode;
use rego::{Errors, Value};

use crate::decision::Subject;
use crate::metrics::Metrics;
use crate::pipeline::{self, Pipeline};
use crate::state::Contents;
use crate::{Engine, store};
use http_server::{ApiError, Reply, Request};

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod patch;
pub(crate) mod post;
pub(crate) mod put;

/// Decides on the document at the path, logs the decision, and wraps it in an envelope.
///
/// # Errors
/// `internal_error` when the evaluation fails, `unavailable` when the decision must be logged and
/// cannot be.
fn answer(
    engine: &Engine,
    request: &Request,
    input: Option<Value>,
    warning: Option<Value>,
    mut metrics: Metrics,
) -> Result<Reply, ApiError> {
    let is_logged = pipeline::is_logged(engine, request, &mut metrics)?;
    let state = engine.state();
    let snapshot = state.decisions(&request.method).snapshot();
    let prepared = pipeline::prepare(&state, &snapshot, request, &mut metrics)?;
    let path = request.path.open();
    let mut pipeline = Pipeline::new(engine, &state, request, is_logged, metrics);
    pipeline.evaluation.strict = request.flag("strict-builtin-errors");
    pipeline.decision.input = input;
    pipeline.evaluate_document(&prepared, path);
    pipeline.log(Subject::Path(path))?;
    let mut envelope = pipeline.into_document_envelope()?;
    if let Some(warning) = warning {
        envelope.insert("warning", warning);
    }
    let (body, pretty) = (Value::from(envelope), request.flag("pretty"));
    Ok(Reply::document(StatusCode::OK, &body, pretty))
}

/// Warning in a response that the request lacks this member.
pub(crate) fn missing(member: &str) -> Value {
    let message = format!("'{member}' key missing from the request");
    Value::object([
        ("code", Value::from("api_usage_warning")),
        ("message", Value::from(message)),
    ])
}

/// 204 after a write, or 200 with the requested metrics.
fn write_reply(mut metrics: Metrics) -> Reply {
    if !metrics.is_requested() {
        return Reply::empty(StatusCode::NO_CONTENT);
    }
    let body = Value::object([("metrics", metrics.finish())]);
    Reply::document(StatusCode::OK, &body, false)
}

/// Refuses the document written at a path if it conflicts with rules.
fn without_conflict(contents: &Contents, path: &[String]) -> Result<(), Errors> {
    let Some(document) = store::find(&contents.documents, path) else {
        return Ok(());
    };
    let steps: Vec<Value> = path.iter().map(|step| Value::from(step.as_str())).collect();
    contents.policy.conflicts(&steps, document)
}
