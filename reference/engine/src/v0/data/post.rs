//! POST /v0/data/{path}

use http::StatusCode;
use rego::Value;

use crate::decide::DecisionRequest;
use crate::decision::{DecisionError, Outcome, Subject};
use crate::evaluate::EvalOptions;
use crate::metrics::Metrics;
use crate::state::State;
use crate::{Engine, request_body};
use http_server::{ApiError, Reply, Request};

/// Returns the bare document at the path. The body is the input document and may be empty.
///
/// # Errors
/// `invalid_parameter` when the body is neither JSON nor YAML, `undefined_document` when there is
/// no document at the path, `internal_error` when the evaluation fails.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    bare(engine, request, request.path.open())
}

/// Returns the bare document at any path.
pub(crate) fn bare(engine: &Engine, request: &Request, path: &[String]) -> Result<Reply, ApiError> {
    let logged = engine.logs_decisions();
    let mut metrics = Metrics::of_write(request);
    if logged {
        metrics.measure();
    }
    let input = metrics.time("timer_rego_input_parse_ns", || request_body::input(request))?;
    let state = engine.state();
    let wanted = DecisionRequest {
        request,
        input: Some(input.unwrap_or(Value::Null)),
        strict: false,
        logged,
        metrics,
    };
    let decision = engine.decide(wanted, |options| decide(engine, &state, path, options));
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
    path: &[String],
    options: &EvalOptions<'_>,
) -> Result<Outcome, DecisionError> {
    // A response without an envelope has no member for the explanation.
    let options = EvalOptions {
        explain: None,
        ..*options
    };
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
