//! Request bodies in JSON and YAML.

use http::header::CONTENT_TYPE;
use rego::Value;
use rego::value::{SyntaxError, document_from_json, from_json, from_yaml, input_from_json};

use crate::http::{ApiError, Request};

/// Requests that give more than so many bytes are not tried by the threads that serve connections.
pub(super) const LARGE_BODY: usize = 64 << 10;

/// The memory that a YAML text takes while it is read, per byte of it.
const YAML: usize = 160;

/// The memory that one more value of a document takes, in bytes.
const VALUE: usize = 24;

/// How the body of a route's requests is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyForm {
    /// As JSON, whatever its type.
    Json,
    /// As YAML when its type says so, else as JSON.
    JsonOrYaml,
}

/// The JSON value that a body holds, which policies compute with.
pub(super) fn json(request: &Request) -> Result<Value, ApiError> {
    match read(request, BodyForm::Json)? {
        Some(value) => Ok(value),
        None => parse(request, "request body", input_from_json),
    }
}

/// The JSON value of a body, of which parts are kept: with numbers of any size.
pub(super) fn changes(request: &Request) -> Result<Value, ApiError> {
    match request.shown_body.get() {
        Some(Some(shown)) => Ok(shown.clone()),
        _ => parse(request, "request body", from_json),
    }
}

/// Reads a text as JSON.
type Read = fn(&[u8]) -> Result<Value, SyntaxError>;

/// The JSON value of a body. If the body is large, the document takes its share of the memory for
/// bodies too.
///
/// # Errors
/// `invalid_parameter` when it is not one value, `unavailable` when the memory is spent.
fn parse(request: &Request, what: &str, read: Read) -> Result<Value, ApiError> {
    take_memory(request)?;
    read(&request.body).map_err(|error| refused(what, &error))
}

/// The JSON value of a body, to be kept. While it is read it takes as much as any other, if it is
/// an object whose members are in no order.
///
/// # Errors
/// As [`parse`].
pub(super) fn document(request: &Request) -> Result<Value, ApiError> {
    take_memory(request)?;
    document_from_json(&request.body).map_err(|error| refused("request body", &error))
}

/// Takes the share of a large document of the memory for bodies.
fn take_memory(request: &Request) -> Result<(), ApiError> {
    if request.body.len() <= LARGE_BODY {
        return Ok(());
    }
    let parts = request.body.iter();
    let parts = parts.filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{'));
    let taken = parts.count().saturating_mul(VALUE);
    request.memory.grow_about(taken)?;
    Ok(())
}

fn refused(what: &str, error: &SyntaxError) -> ApiError {
    ApiError::invalid_parameter(format!("{what}: {error}"))
}

/// The JSON object that a body holds.
pub(super) fn object(request: &Request) -> Result<Value, ApiError> {
    let body = json(request)?;
    match body.kind() {
        "object" => Ok(body),
        kind => Err(ApiError::invalid_parameter(format!(
            "request body: expected an object, found {kind}"
        ))),
    }
}

/// A member of a request's object that must be a string.
pub(super) fn string<'b>(body: &'b Value, name: &str) -> Result<&'b str, ApiError> {
    let text = body.get(name).and_then(Value::as_str);
    text.ok_or_else(|| ApiError::invalid_parameter(format!("`{name}` must be a string")))
}

/// The value that a body holds, YAML when its type says so, if it holds any.
pub(super) fn input(request: &Request) -> Result<Option<Value>, ApiError> {
    read(request, BodyForm::JsonOrYaml)
}

/// The value that the authorization policy is shown, and every reader of the body from then on:
/// two readings of the same bytes might differ, as those of JSON and YAML do.
pub(super) fn show(request: &Request, form: BodyForm) -> Result<Option<Value>, ApiError> {
    let value = read(request, form)?;
    Ok(request.shown_body.get_or_init(|| value).clone())
}

/// The value that a body holds, if it holds any.
fn read(request: &Request, form: BodyForm) -> Result<Option<Value>, ApiError> {
    if let Some(shown) = request.shown_body.get() {
        return Ok(shown.clone());
    }
    let kind = request.header(CONTENT_TYPE).unwrap_or_default();
    if form == BodyForm::JsonOrYaml && kind.contains("yaml") {
        let taken = request.body.len().saturating_mul(YAML);
        request.memory.grow_about(taken)?;
        let value = from_yaml(&request.body)
            .map_err(|error| ApiError::invalid_parameter(format!("input document: {error}")))?;
        return Ok(Some(value));
    }
    if request.body.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let what = match form {
        BodyForm::Json => "request body",
        BodyForm::JsonOrYaml => "input document",
    };
    parse(request, what, input_from_json).map(Some)
}
