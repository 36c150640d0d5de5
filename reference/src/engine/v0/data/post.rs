//! POST /v0/data/{path}

use http::StatusCode;

use rego::Value;

use crate::engine::evaluate::Asked;
use crate::engine::plugins::{Event, Subject};
use crate::engine::{Engine, body, id};
use crate::http::{ApiError, Code, Reply, Request};

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
    let input = body::input(request)?.unwrap_or(Value::Null);
    let decided = decide(engine, request, path, &input);
    if engine.config().plugins.decision_logs.is_some() {
        let event = Event {
            request,
            subject: Subject::Path(path),
            input: Some(input),
            result: decided.as_ref().ok().cloned(),
            error: decided.as_ref().err(),
            calls: None,
            metrics: None,
        };
        engine.log(&engine.state(), &id::random(), event)?;
    }
    Ok(Reply::document(
        StatusCode::OK,
        &decided?,
        request.flag("pretty"),
    ))
}

fn decide(
    engine: &Engine,
    request: &Request,
    path: &[String],
    input: &Value,
) -> Result<Value, ApiError> {
    let document = engine.read(path, &Asked::plainly(request, Some(input)))?;
    document.ok_or_else(|| {
        let names = std::iter::once("data").chain(path.iter().map(String::as_str));
        let name = names.collect::<Vec<_>>().join(".");
        let message = format!("no document at `{name}`");
        ApiError::new(Code::UndefinedDocument, message)
    })
}
