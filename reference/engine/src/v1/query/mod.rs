//! `/v1/query`

use http::StatusCode;
use rego::{Query, QueryOptions, Value};

use crate::decision::Subject;
use crate::metrics::Metrics;
use crate::pipeline::{Pipeline, is_logged};
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
    let is_logged = is_logged(engine, request, &mut metrics)?;
    let mut pipeline = Pipeline::new(engine, &state, request, is_logged, metrics);
    pipeline.decision.input = input.cloned();
    pipeline.evaluate_query(&query);
    pipeline.log(Subject::Query(text))?;
    let body = Value::from(pipeline.into_envelope()?);
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
