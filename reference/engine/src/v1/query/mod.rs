//! `/v1/query`

use http::StatusCode;
use rego::{Query, QueryOptions, Solution, Value};

use crate::decide::DecisionRequest;
use crate::decision::{DecisionError, Outcome, Subject};
use crate::evaluate::EvalOptions;
use crate::metrics::Metrics;
use crate::state::State;
use crate::{Engine, errors};
use http_server::{ApiError, Reply, Request};

pub(crate) mod get;
pub(crate) mod post;

/// Functions that ad hoc queries may not call, because they access the network.
pub(super) const UNSAFE: &[&str] = &["http.send"];

/// Answers with the bindings of every solution of a query.
fn answer(
    engine: &Engine,
    request: &Request,
    text: &str,
    input: Option<&Value>,
    mut metrics: Metrics,
) -> Result<Reply, ApiError> {
    let state = engine.state();
    let query = compile(engine, &state, text, &mut metrics)?;
    let logged = engine.logs_decisions();
    if logged {
        metrics.measure();
    }
    let wanted = DecisionRequest {
        request,
        input: input.cloned(),
        strict: false,
        logged,
        metrics,
    };
    let decision = engine.decide(wanted, |options| evaluate(engine, &state, &query, options));
    engine.log(&state, request, Subject::Query(text), &decision)?;
    let body = Value::from(decision.into_envelope()?);
    let pretty = request.flag("pretty");
    Ok(Reply::document(StatusCode::OK, &body, pretty))
}

fn compile(
    engine: &Engine,
    state: &State,
    text: &str,
    metrics: &mut Metrics,
) -> Result<Query, ApiError> {
    if text.trim().is_empty() {
        return Err(errors::empty_query());
    }
    let body = metrics.time("timer_rego_query_parse_ns", || {
        Query::read_as(text, engine.version())
    });
    let body = body.map_err(|errors| errors::unparsed(&errors))?;
    let query = metrics.time("timer_rego_query_compile_ns", || {
        let options = QueryOptions { forbidden: UNSAFE };
        Query::compile(&state.contents().policy, body, &options)
    });
    query.map_err(|errors| errors::uncompiled(&errors))
}

/// List of all solutions, if there are any.
fn evaluate(
    engine: &Engine,
    state: &State,
    query: &Query,
    options: &EvalOptions<'_>,
) -> Result<Outcome, DecisionError> {
    let (answers, explanation) = engine.evaluate(state, query, options)?;
    let listed: Vec<_> = answers.iter().map(Solution::to_value).collect();
    Ok(Outcome {
        result: (!listed.is_empty()).then(|| Value::from(listed)),
        explanation,
    })
}
