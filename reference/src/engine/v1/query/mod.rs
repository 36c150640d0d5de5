//! `/v1/query`

use http::StatusCode;
use rego::value::Object;
use rego::{Answer, Query, QueryOptions, Value};

use crate::engine::evaluate::Asked;
use crate::engine::explain::Explain;
use crate::engine::metrics::Metrics;
use crate::engine::{Engine, refusal};
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
    let body = metrics.time("timer_rego_query_parse_ns", || Query::read(text));
    let body = body.map_err(|errors| refusal::unparsed(&errors))?;
    let query = metrics.time("timer_rego_query_compile_ns", || {
        let options = QueryOptions { forbidden: UNSAFE };
        Query::compile(&state.contents().policy, body, &options)
    });
    let query = query.map_err(|errors| refusal::uncompiled(&errors))?;
    let asked = Asked {
        explain: Explain::asked(request),
        ..Asked::plainly(request, input)
    };
    let (answers, explanation) = metrics.time("timer_rego_query_eval_ns", || {
        engine.evaluate(&state, &query, &asked)
    })?;
    let mut envelope = Object::new();
    if let Some(explanation) = explanation {
        envelope.insert("explanation", explanation);
    }
    if !answers.is_empty() {
        let answers = answers.iter().map(Answer::to_value);
        envelope.insert("result", Value::from(answers.collect::<Vec<_>>()));
    }
    if metrics.asked() {
        envelope.insert("metrics", metrics.finish());
    }
    let pretty = request.flag("pretty");
    Ok(Reply::document(
        StatusCode::OK,
        &Value::from(envelope),
        pretty,
    ))
}
