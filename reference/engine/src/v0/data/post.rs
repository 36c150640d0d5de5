//! POST /v0/data/{path}

use http::StatusCode;
use rego::Value;

use crate::decision::{DecisionError, Outcome, Subject};
use crate::metrics::Metrics;
use crate::pipeline::{Pipeline, is_logged};
use crate::{Engine, request_body};
use http_server::{ApiError, Reply, Request};

/// Returns the bare document at the path. The body is the input document and may be empty.
///
/// # Errors
/// `invalid_parameter` when the body is neither JSON nor YAML, `undefined_document` when there is
/// no document at the path, `internal_error` when the evaluation fails.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    respond_without_envelope(engine, request, request.path.open())
}

/// Returns the bare document at any path.
pub(crate) fn respond_without_envelope(
    engine: &Engine,
    request: &Request,
    path: &[String],
) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_write(request);
    let is_logged = is_logged(engine, request, &mut metrics)?;
    let input = metrics.time("timer_rego_input_parse_ns", || request_body::input(request))?;
    let state = engine.state();
    let snapshot = state.reads.snapshot();
    let prepared = state.read(&snapshot, path, request)?;
    let mut pipeline = Pipeline::new(engine, &state, request, is_logged, metrics);
    // A response without an envelope has no member for the explanation.
    pipeline.evaluation.explain = None;
    pipeline.decision.input = Some(input.unwrap_or(Value::Null));
    pipeline.evaluate_document(&prepared, path);
    let outcome = &mut pipeline.decision.outcome;
    if let Ok(Outcome { result: None, .. }) = outcome {
        let names = std::iter::once("data").chain(path.iter().map(String::as_str));
        let name = names.collect::<Vec<_>>().join(".");
        *outcome = Err(DecisionError::Undefined(name));
    }
    pipeline.log(Subject::Path(path))?;
    let document = pipeline.decision.outcome?.result.unwrap_or(Value::Null);
    let pretty = request.flag("pretty");
    Ok(Reply::document(StatusCode::OK, &document, pretty))
}
