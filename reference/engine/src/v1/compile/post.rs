//! POST /v1/compile

use std::sync::Arc;

use http::StatusCode;
use rego::syntax::Body;
use rego::value::Object;
use rego::{
    PartialOptions, PartialQuery, Query, QueryOptions, References, Residual, Value, Version,
};

use crate::decision::DecisionError;
use crate::explain::Explain;
use crate::metrics::Metrics;
use crate::state::State;
use crate::v1::query::UNSAFE;
use crate::{Engine, errors, request_body};
use http_server::{ApiError, Reply, Request};

/// Initial bytes of the response buffer, which few responses exceed.
const TEXT: usize = 4 << 10;

/// Partially evaluates the body's member `query` with the documents in `unknowns` unknown. The
/// result has `queries`, of which one must be true, and the modules that they refer to as
/// `support`.
///
/// # Errors
/// `invalid_parameter` when the body is not an object with a string `query`, when the query or an
/// unknown cannot be parsed, or the query does not compile; `internal_error` when a reference in
/// `options.disableInlining` cannot be parsed or the evaluation fails.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    answer(&engine.state(), request, engine.version())
}

/// Answers with the residual of the query in the request.
fn answer(state: &State, request: &Request, version: Version) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_decision(request);
    let asked = request_body::object(request)?;
    let text = asked.get("query").filter(|text| **text != Value::Null);
    let text = text
        .map(|_| request_body::string(&asked, "query"))
        .transpose()?;
    let text = text.unwrap_or_default();
    let kept = state.residuals.get(text);
    if kept.is_none() {
        request.leave_inline_attempt()?;
    }
    let read = metrics.time("timer_rego_query_parse_ns", || match &kept {
        Some(_) => Ok(None),
        None => read(text, version).map(Some),
    })?;
    let options = options(&asked)?;
    let query = metrics.time("timer_rego_query_compile_ns", || match (kept, read) {
        (Some(query), _) => Ok(query),
        (None, read) => compile(state, text, read.unwrap_or_default()),
    })?;
    let stage = "timer_query_compile_stage_all_ns";
    metrics.also(stage, "timer_rego_query_compile_ns");
    let input = asked.get("input").cloned();
    let latency = &state.residual_latency;
    let (residual, explanation) = metrics.time("timer_rego_partial_eval_ns", || {
        latency.of(request, || {
            evaluate(state, &query, input, &options, request)
        })
    })?;
    let metrics = metrics.is_shown().then(|| metrics.finish());
    Ok(written(
        &residual,
        explanation,
        metrics,
        request.flag("pretty"),
    ))
}

/// Response with a residual. Most have no other members, and are encoded directly.
fn written(
    residual: &Residual,
    explanation: Option<Value>,
    metrics: Option<Value>,
    pretty: bool,
) -> Reply {
    if explanation.is_none() && metrics.is_none() && !pretty {
        let mut text = Vec::with_capacity(TEXT);
        text.extend_from_slice(br#"{"result":"#);
        residual.append_text(&mut text);
        text.push(b'}');
        return Reply::json_text(StatusCode::OK, text);
    }
    let members = [
        ("explanation", explanation),
        ("metrics", metrics),
        ("result", Some(residual.to_json())),
    ];
    let members = members.into_iter();
    let members = members.filter_map(|(name, member)| Some((Value::from(name), member?)));
    let answer = Value::from(members.collect::<Object>());
    Reply::document(StatusCode::OK, &answer, pretty)
}

/// Parses the query, which must not be empty.
fn read(text: &str, version: Version) -> Result<Body, ApiError> {
    let body = Query::read_as(text, version);
    let body = body.map_err(|errors| errors::unparsed_residual(&errors))?;
    match body.is_empty() {
        true => Err(ApiError::invalid_parameter(
            "missing required 'query' value",
        )),
        false => Ok(body),
    }
}

/// Compiles a query, and caches it by its source.
fn compile(state: &State, text: &str, body: Body) -> Result<Arc<PartialQuery>, ApiError> {
    let options = QueryOptions { forbidden: UNSAFE };
    let query = PartialQuery::compile(&state.contents().policy, body, &options);
    let query = Arc::new(query.map_err(|errors| errors::module(&errors))?);
    state.residuals.put(text, &query);
    Ok(query)
}

/// Options of the request, including the unknowns.
fn options(asked: &Value) -> Result<PartialOptions, ApiError> {
    let mut options = PartialOptions::default();
    if let Some(texts) = texts(asked, "unknowns")? {
        let unknowns = References::parse(texts);
        options.unknowns = unknowns.map_err(|errors| errors::unknowns(&errors))?;
    }
    let Some(given) = asked.get("options").filter(|given| **given != Value::Null) else {
        return Ok(options);
    };
    if given.as_object().is_none() {
        return Err(ApiError::invalid_parameter("`options` must be an object"));
    }
    if let Some(texts) = texts(given, "disableInlining")? {
        let references = References::parse(texts);
        options.disable_inlining =
            references.map_err(|errors| errors::disable_inlining(&errors))?;
    }
    // The documented name lacks a letter; clients of other engines use it.
    for name in ["nondeterminsticBuiltins", "nondeterministicBuiltins"] {
        match given.get(name) {
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

fn evaluate(
    state: &State,
    query: &PartialQuery,
    input: Option<Value>,
    options: &PartialOptions,
    request: &Request,
) -> Result<(Residual, Option<Value>), ApiError> {
    let mut recorder = Explain::from_request(request).map(Explain::recorder);
    let host = state.host_for(request);
    let mut evaluation = state.evaluation_for(request, &host);
    evaluation.input = input;
    evaluation.tracer = recorder
        .as_mut()
        .map(|recorder| recorder as &mut dyn rego::Tracer);
    let residual = query.evaluate(&mut evaluation, options);
    let residual = residual.map_err(|error| DecisionError::of(request, error))?;
    let explanation = recorder.map(|recorder| recorder.finish());
    Ok((residual, explanation))
}
