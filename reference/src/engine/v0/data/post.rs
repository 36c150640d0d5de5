//! POST /v0/data/{path}

use http::StatusCode;

use rego::Value;

use crate::engine::evaluate::Asked;
use crate::engine::{Engine, body};
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
    let Some(document) = engine.read(path, &Asked::plainly(request, Some(&input)))? else {
        let names = std::iter::once("data").chain(path.iter().map(String::as_str));
        let name = names.collect::<Vec<_>>().join(".");
        let message = format!("no document at `{name}`");
        return Err(ApiError::new(Code::UndefinedDocument, message));
    };
    Ok(Reply::document(
        StatusCode::OK,
        &document,
        request.flag("pretty"),
    ))
}
