//! POST /v0/data/{path}

use http::StatusCode;
use rego::Value;

use crate::engine::decision::{Decision, DecisionError, Outcome, Subject};
use crate::engine::evaluate::EvalOptions;
use crate::engine::state::State;
use crate::engine::{Engine, id, request_body};
use crate::http::{ApiError, Reply, Request};

/// Answers with the bare document at the path. The body is the input document and may be empty.
///
/// # Errors
/// `invalid_parameter` when the body is neither JSON nor YAML, `undefined_document` when there
/// is no document at the path, `internal_error` when the evaluation fails.
pub(in crate::engine) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    bare(engine, request, &request.segments)
}

/// Answers with the bare document at any path.
pub(in crate::engine) fn bare(
    engine: &Engine,
    request: &Request,
    path: &[String],
) -> Result<Reply, ApiError> {
    let input = request_body::input(request)?.unwrap_or(Value::Null);
    let state = engine.state();
    let outcome = decide(engine, &state, request, path, &input);
    let id = engine.logs_decisions().then(id::random);
    let decision = Decision::plain(id, input, outcome);
    engine.log(&state, request, Subject::Path(path), &decision)?;
    let document = decision.outcome?.result.unwrap_or(Value::Null);
    Ok(Reply::document(
        StatusCode::OK,
        &document,
        request.flag("pretty"),
    ))
}

fn decide(
    engine: &Engine,
    state: &State,
    request: &Request,
    path: &[String],
    input: &Value,
) -> Result<Outcome, DecisionError> {
    let options = EvalOptions::plain(request, Some(input));
    match engine.read(state, path, &options)? {
        None => {
            let names = std::iter::once("data").chain(path.iter().map(String::as_str));
            let name = names.collect::<Vec<_>>().join(".");
            Err(DecisionError::Undefined(name))
        }
        result => Ok(Outcome {
            result,
            explanation: None,
        }),
    }
}
