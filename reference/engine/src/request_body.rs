//! Request bodies in JSON and YAML.

use http::header::CONTENT_TYPE;
use rego::Value;
use rego::value::{SyntaxError, document_from_json, from_json, from_yaml, input_from_json};

use http_server::{ApiError, Request};

/// Requests with more bytes than this are not attempted inline, on connection threads.
pub(super) const LARGE_BODY: usize = 64 << 10;

/// Memory in bytes that parsing YAML takes per byte of the source.
const YAML: usize = 160;

/// Memory that each value of a parsed document takes, in bytes.
const VALUE: usize = 24;

/// Format of the request bodies of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyForm {
    /// JSON, whatever the content type.
    Json,
    /// YAML if the content type says so, else JSON.
    JsonOrYaml,
}

/// Parses the JSON body as an input for policies.
pub(super) fn json(request: &Request) -> Result<Value, ApiError> {
    match read(request, BodyForm::Json)? {
        Some(value) => Ok(value),
        None => parse(request, "request body", input_from_json),
    }
}

/// Parses the JSON body of a patch. Numbers may have any size, because they may be stored.
pub(super) fn changes(request: &Request) -> Result<Value, ApiError> {
    match request.shown_body.get() {
        Some(Some(cached)) => Ok(cached.clone()),
        _ => parse(request, "request body", from_json),
    }
}

/// JSON parser.
type JsonParser = fn(&[u8]) -> Result<Value, SyntaxError>;

/// Parses the JSON body. The document of a large body also counts towards the memory budget of
/// bodies.
///
/// # Errors
/// `invalid_parameter` when the body is not one JSON value, `unavailable` when the budget is
/// exhausted.
fn parse(request: &Request, what: &str, read: JsonParser) -> Result<Value, ApiError> {
    take_memory(request)?;
    read(&request.body).map_err(|error| refused(what, &error))
}

/// Parses the JSON body as a document to be stored. Reserves as much memory as [`parse`], because
/// an object with unsorted members takes that much during parsing.
///
/// # Errors
/// Those of [`parse`].
pub(super) fn document(request: &Request) -> Result<Value, ApiError> {
    take_memory(request)?;
    document_from_json(&request.body).map_err(|error| refused("request body", &error))
}

/// Charges a large document to the memory budget of bodies.
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

/// Parses the body, which must be a JSON object.
pub(super) fn object(request: &Request) -> Result<Value, ApiError> {
    let body = json(request)?;
    match body.kind() {
        "object" => Ok(body),
        kind => Err(ApiError::invalid_parameter(format!(
            "request body: expected an object, found {kind}"
        ))),
    }
}

/// Member `name` of a request's object, which must be a string.
pub(super) fn string<'b>(body: &'b Value, name: &str) -> Result<&'b str, ApiError> {
    let text = body.get(name).and_then(Value::as_str);
    text.ok_or_else(|| ApiError::invalid_parameter(format!("`{name}` must be a string")))
}

/// Parses the body, as YAML if its content type says so; absent if it is empty.
pub(super) fn input(request: &Request) -> Result<Option<Value>, ApiError> {
    read(request, BodyForm::JsonOrYaml)
}

/// Parses the body for the authorization policy, and fixes the value for all later readers: they
/// might otherwise parse the same bytes to another value, as JSON instead of YAML.
pub(super) fn show(request: &Request, form: BodyForm) -> Result<Option<Value>, ApiError> {
    let value = read(request, form)?;
    Ok(request.shown_body.get_or_init(|| value).clone())
}

/// Parses the body; absent if it is empty.
fn read(request: &Request, form: BodyForm) -> Result<Option<Value>, ApiError> {
    if let Some(cached) = request.shown_body.get() {
        return Ok(cached.clone());
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
