//! `/v1/query`

use std::cell::RefCell;

use http::StatusCode;
use rego::value::Object;
use rego::{Answer, Query, QueryOptions, Value};

use crate::engine::evaluate::Asked;
use crate::engine::explain::Explain;
use crate::engine::metrics::Metrics;
use crate::engine::plugins::{Event, Subject};
use crate::engine::{Engine, id, refusal};
use crate::http::{ApiError, Code, Reply, Request};

pub(in crate::engine) mod get;
pub(in crate::engine) mod post;

/// Functions that ad hoc queries may not call, since they reach beyond this server.
pub(super) const UNSAFE: &[&str] = &["http.send"];

/// Answers with the bindings of every answer of a query.
fn answer(
    engine: &Engine,
    request: &Request,
    text: &str,
    input: Option<&Value>,
    mut metrics: Metrics,
) -> Result<Reply, ApiError> {
    if text.trim().is_empty() {
        return Err(ApiError::new(
            Code::InternalError,
            "cannot evaluate empty query",
        ));
    }
    let state = engine.state();
    let body = metrics.time("timer_rego_query_parse_ns", || {
        Query::read_as(text, engine.version())
    });
    let body = body.map_err(|errors| refusal::unparsed(&errors))?;
    let query = metrics.time("timer_rego_query_compile_ns", || {
        let options = QueryOptions { forbidden: UNSAFE };
        Query::compile(&state.contents().policy, body, &options)
    });
    let query = query.map_err(|errors| refusal::uncompiled(&errors))?;
    let logged = engine.config().plugins.decision_logs.is_some();
    if logged {
        metrics.measure();
    }
    let calls = logged.then(RefCell::default);
    let asked = Asked {
        calls: calls.as_ref(),
        explain: Explain::asked(request),
        ..Asked::plainly(request, input)
    };
    let evaluated = metrics.time("timer_rego_query_eval_ns", || {
        engine.evaluate(&state, &query, &asked)
    });
    let shows_metrics = metrics.asked();
    let metrics = (logged || shows_metrics).then(|| metrics.finish());
    let result = evaluated.as_ref().ok().and_then(|(answers, _)| {
        let listed: Vec<_> = answers.iter().map(Answer::to_value).collect();
        (!listed.is_empty()).then(|| Value::from(listed))
    });
    if logged {
        let event = Event {
            request,
            subject: Subject::Query(text),
            input: input.cloned(),
            result: result.clone(),
            error: evaluated.as_ref().err(),
            calls: calls.map(RefCell::into_inner),
            metrics: metrics.clone(),
        };
        engine.log(&state, &id::random(), event)?;
    }
    let (_, explanation) = evaluated?;
    let mut envelope = Object::new();
    if let Some(explanation) = explanation {
        envelope.insert("explanation", explanation);
    }
    if let Some(result) = result {
        envelope.insert("result", result);
    }
    if let Some(metrics) = metrics.filter(|_| shows_metrics) {
        envelope.insert("metrics", metrics);
    }
    let pretty = request.flag("pretty");
    Ok(Reply::document(
        StatusCode::OK,
        &Value::from(envelope),
        pretty,
    ))
}
