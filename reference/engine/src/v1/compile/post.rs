//! POST /v1/compile

use http::StatusCode;
use rego::syntax::Body;
use rego::{
    PartialOptions, PartialQuery, Query, QueryOptions, References, Residual, Value, Version,
};

use crate::decision::Outcome;
use crate::metrics::Metrics;
use crate::pipeline::Pipeline;
use crate::state::State;
use crate::v1::query::UNSAFE;
use crate::{Engine, errors, request_body};
use http_server::{ApiError, Reply, Request};

/// Initial bytes of the response buffer, which few responses exceed.
const TEXT: usize = 4 << 10;

/// Timer of parsing the query.
const PARSE: &str = "timer_rego_query_parse_ns";

/// Timer of compiling the query.
const COMPILE: &str = "timer_rego_query_compile_ns";

/// Partially evaluates the body's member `query` with the documents in `unknowns` unknown. The
/// result has `queries`, of which one must be true, and the modules that they refer to as
/// `support`.
///
/// # Errors
/// `invalid_parameter` when the body is not an object with a string `query`, when the query or an
/// unknown cannot be parsed, or the query does not compile; `internal_error` when a reference in
/// `options.disableInlining` cannot be parsed or the evaluation fails.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let metrics = Metrics::of_decision(request);
    let state = engine.state();
    let mut pipeline = Pipeline::new(engine, &state, request, false, metrics);
    let body_object = request_body::object(request)?;
    let text = body_object
        .get("query")
        .filter(|text| **text != Value::Null);
    let text = text
        .map(|_| request_body::string(&body_object, "query"))
        .transpose()?;
    let text = text.unwrap_or_default();
    let metrics = &mut pipeline.metrics;
    // Responses have these timers even if the query is cached.
    metrics.count(PARSE, 0);
    metrics.count(COMPILE, 0);
    let snapshot = state.residuals.snapshot();
    let query = state
        .residuals
        .get_or_compile(&snapshot, text, request, || {
            let body = metrics.time(PARSE, || parse(text, engine.version()))?;
            // As in Open Policy Agent, errors in the options precede those of the compiler.
            options(&body_object)?;
            metrics.time(COMPILE, || compile(&state, body))
        })?;
    pipeline
        .metrics
        .also("timer_query_compile_stage_all_ns", COMPILE);
    pipeline.decision.input = body_object.get("input").cloned();
    let options = options(&body_object)?;
    let measurement = state.residual_latency.measure(request);
    let (residual, explanation) = pipeline.evaluate_partially(&query, &options)?;
    drop(measurement);
    reply(pipeline, &residual, explanation)
}

/// Response with a residual. Most have no other members, and are encoded directly.
fn reply(
    mut pipeline: Pipeline<'_>,
    residual: &Residual,
    explanation: Option<Value>,
) -> Result<Reply, ApiError> {
    let pretty = pipeline.evaluation.request.flag("pretty");
    if explanation.is_none() && !pipeline.decision.shows_metrics && !pretty {
        let mut text = Vec::with_capacity(TEXT);
        text.extend_from_slice(br#"{"result":"#);
        residual.append_text(&mut text);
        text.push(b'}');
        return Ok(Reply::json_text(StatusCode::OK, text));
    }
    pipeline.complete(Ok(Outcome {
        result: Some(residual.to_json()),
        explanation,
    }));
    let body = Value::from(pipeline.into_envelope()?);
    Ok(Reply::document(StatusCode::OK, &body, pretty))
}

/// Parses the query, which must not be empty.
fn parse(text: &str, version: Version) -> Result<Body, ApiError> {
    let body = Query::read_as(text, version);
    let body = body.map_err(|errors| errors::unparsed_residual(&errors))?;
    match body.is_empty() {
        true => Err(ApiError::invalid_parameter(
            "missing required 'query' value",
        )),
        false => Ok(body),
    }
}

/// Compiles the query.
fn compile(state: &State, body: Body) -> Result<PartialQuery, ApiError> {
    let options = QueryOptions { forbidden: UNSAFE };
    let query = PartialQuery::compile(&state.contents().policy, body, &options);
    query.map_err(|errors| errors::module(&errors))
}

/// Options of the request, including the unknowns.
fn options(body: &Value) -> Result<PartialOptions, ApiError> {
    let mut options = PartialOptions::default();
    if let Some(texts) = texts(body, "unknowns")? {
        let unknowns = References::parse(texts);
        options.unknowns = unknowns.map_err(|errors| errors::unknowns(&errors))?;
    }
    let Some(section) = body
        .get("options")
        .filter(|section| **section != Value::Null)
    else {
        return Ok(options);
    };
    if section.as_object().is_none() {
        return Err(ApiError::invalid_parameter("`options` must be an object"));
    }
    if let Some(texts) = texts(section, "disableInlining")? {
        let references = References::parse(texts);
        options.disable_inlining =
            references.map_err(|errors| errors::disable_inlining(&errors))?;
    }
    // The documented name lacks a letter; clients of other engines use it.
    for name in ["nondeterminsticBuiltins", "nondeterministicBuiltins"] {
        match section.get(name) {
            Some(Value::Bool(evaluate)) => options.nondeterministic_builtins |= evaluate,
            None | Some(Value::Null) => {}
            Some(_) => {
                let message = format!("`{name}` must be a boolean");
                return Err(ApiError::invalid_parameter(message));
            }
        }
    }
    Ok(options)
}

/// Member that must be an array of strings, if present.
pub(super) fn texts<'a>(object: &'a Value, name: &str) -> Result<Option<Vec<&'a str>>, ApiError> {
    let Some(member) = object.get(name).filter(|member| **member != Value::Null) else {
        return Ok(None);
    };
    let items = member
        .as_array()
        .map(|items| items.iter().map(Value::as_str));
    let texts = items.and_then(|items| items.collect::<Option<Vec<_>>>());
    match texts {
        Some(texts) => Ok(Some(texts)),
        None => {
            let message = format!("`{name}` must be an array of strings");
            Err(ApiError::invalid_parameter(message))
        }
    }
}
