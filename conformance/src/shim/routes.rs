//! Endpoints of the shim: health, policies, documents and decisions.

use std::sync::Mutex;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::adapter::{Adapter, Decision, Failure, Modules, Question};
use super::answers::{Answer, absent, done, invalid, json, refused};
use super::documents;
use crate::fixture_server::listener::ARRIVES_WITHIN;
use crate::sync::lock;

/// Maximum length of a request's body, in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Name of an undefined document, which is evaluated to check that policies compile.
const UNUSED_PATH: &str = "conformance_shim";
/// Error code of invalid policies and requests.
const INVALID: &str = "invalid_parameter";

/// Policies and documents of an engine, and its adapter.
#[derive(Debug)]
pub(super) struct Engine {
    adapter: Adapter,
    state: Mutex<State>,
}

#[derive(Debug, Clone)]
struct State {
    modules: Modules,
    data: Value,
}

/// A parsed request.
struct ParsedRequest<'a> {
    method: &'a Method,
    /// The path's segments, percent-decoded.
    path: &'a [String],
    /// Names and values of the query parameters, decoded.
    query: Vec<(String, String)>,
    body: Bytes,
}

impl Engine {
    pub(super) fn new(adapter: Adapter) -> Self {
        Self {
            adapter,
            state: Mutex::new(State {
                modules: Modules::new(),
                data: Value::Object(Map::new()),
            }),
        }
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let body = match read_body(body).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
        let Some(path) = segments(&head) else {
            return invalid("the path is not UTF-8");
        };
        let query = form(head.uri.query().unwrap_or_default());
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let below = |path| ParsedRequest {
            method: &head.method,
            path,
            query,
            body,
        };
        match names.as_slice() {
            ["health"] if head.method == Method::GET => json(&json!({})),
            ["v1", "policies", ..] => {
                self.policies(below(path.get(2..).unwrap_or_default()))
                    .await
            }
            ["v1", "data", ..] => self.data(below(path.get(2..).unwrap_or_default())).await,
            _ => absent("the shim has no such endpoint"),
        }
    }

    async fn policies(&self, request: ParsedRequest<'_>) -> Answer {
        let id = request.path.join("/");
        let none = || absent(&format!("there is no policy `{id}`"));
        let item = |id: &str, raw: &str| json!({"id": id, "raw": raw});
        match (request.method, id.as_str()) {
            (&Method::GET, "") => {
                let state = lock(&self.state);
                let items = state.modules.iter().map(|(id, raw)| item(id, raw));
                json(&json!({"result": items.collect::<Vec<_>>()}))
            }
            (&Method::GET, id) => match lock(&self.state).modules.get(id) {
                Some(raw) => json(&json!({"result": item(id, raw)})),
                None => none(),
            },
            (&Method::DELETE, id) => match lock(&self.state).modules.remove(id) {
                Some(_) => json(&json!({})),
                None => none(),
            },
            (&Method::PUT, id) if !id.is_empty() => match String::from_utf8(request.body.into()) {
                Ok(text) => self.load(id, text).await,
                Err(_) => invalid("the policy is not UTF-8"),
            },
            _ => not_allowed(),
        }
    }

    /// Loads a policy, if the adapter can compile it together with the loaded ones.
    async fn load(&self, id: &str, text: String) -> Answer {
        let mut candidate = lock(&self.state).clone();
        candidate.modules.insert(id.to_owned(), text.clone());
        let question = Question {
            modules: &candidate.modules,
            data: &candidate.data,
            path: &[UNUSED_PATH.into()],
            input: None,
            strict_builtin_errors: false,
        };
        match self.adapter.decide(&question).await {
            // Nothing is evaluated that could fail, so the policies are invalid.
            Ok(Decision::Failed(failure)) => invalid(&failure.message),
            Err(reason) => broken(&reason),
            Ok(_) => {
                lock(&self.state).modules.insert(id.to_owned(), text);
                json(&json!({}))
            }
        }
    }

    async fn data(&self, request: ParsedRequest<'_>) -> Answer {
        match *request.method {
            Method::GET if request.path.is_empty() => {
                json(&json!({"result": lock(&self.state).data.clone()}))
            }
            Method::GET => {
                let input = request.query.iter().find(|(name, _)| name == "input");
                let input = input
                    .map(|(_, text)| serde_json::from_str(text))
                    .transpose();
                match input {
                    Ok(input) => self.decide(&request, input).await,
                    Err(error) => invalid(&format!("input is not JSON: {error}")),
                }
            }
            Method::POST => match input_of(&request.body) {
                Ok(input) => self.decide(&request, input).await,
                Err(reason) => invalid(&reason),
            },
            Method::PUT => {
                let document = match serde_json::from_slice(&request.body) {
                    Ok(document) => document,
                    Err(error) => return invalid(&format!("the body is not JSON: {error}")),
                };
                match documents::put(&mut lock(&self.state).data, request.path, document) {
                    Ok(()) => done(),
                    Err(documents::Absent) => absent("no document can be there"),
                }
            }
            Method::DELETE => match documents::remove(&mut lock(&self.state).data, request.path) {
                Ok(()) => done(),
                Err(documents::Absent) => absent("there is no document"),
            },
            _ => not_allowed(),
        }
    }

    async fn decide(&self, request: &ParsedRequest<'_>, input: Option<Value>) -> Answer {
        let state = lock(&self.state).clone();
        let path: Vec<Value> = request.path.iter().map(|segment| step(segment)).collect();
        let true_values = ["", "true"];
        let question = Question {
            modules: &state.modules,
            data: &state.data,
            path: &path,
            input: input.as_ref(),
            strict_builtin_errors: request.query.iter().any(|(name, value)| {
                name == "strict-builtin-errors" && true_values.contains(&value.as_str())
            }),
        };
        match self.adapter.decide(&question).await {
            Ok(Decision::Defined(result)) => json(&json!({ "result": result })),
            Ok(Decision::Undefined) => json(&json!({})),
            Ok(Decision::Failed(failure)) => failed(&failure),
            Err(reason) => broken(&reason),
        }
    }
}

/// Converts a path segment to a JSON value; an integer becomes a number.
fn step(segment: &str) -> Value {
    segment
        .parse::<i64>()
        .map_or_else(|_| segment.into(), Into::into)
}

/// Returns the input in the body of a decision request, if there is one.
fn input_of(body: &[u8]) -> Result<Option<Value>, String> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(mut members)) => Ok(members.remove("input")),
        Ok(_) => Err("the body is not an object".to_owned()),
        Err(error) => Err(format!("the body is not JSON: {error}")),
    }
}

async fn read_body(body: Incoming) -> Result<Bytes, Answer> {
    match timeout(ARRIVES_WITHIN, Limited::new(body, MAX_BODY_BYTES).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(refused(
            StatusCode::PAYLOAD_TOO_LARGE,
            INVALID,
            "the shim takes bodies of up to 64 MiB",
        )),
        Ok(Err(_)) => Err(invalid("the body ended before it was whole")),
        Err(_) => Err(refused(
            StatusCode::REQUEST_TIMEOUT,
            INVALID,
            "the body did not come within 30 s",
        )),
    }
}

/// Returns the segments of a path, decoded; none if one is not UTF-8.
fn segments(head: &Parts) -> Option<Vec<String>> {
    let path = head
        .uri
        .path()
        .trim_start_matches('/')
        .trim_end_matches('/');
    let decoded = |segment| percent_decode_str(segment).decode_utf8().ok();
    path.split('/')
        .map(|segment| Some(decoded(segment)?.into_owned()))
        .collect()
}

fn form(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| {
        let text = text.replace('+', " ");
        percent_decode_str(&text).decode_utf8_lossy().into_owned()
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

/// Returns the response to a failed decision.
fn failed(failure: &Failure) -> Answer {
    let status = match failure.code.as_str() {
        INVALID => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refused(status, &failure.code, &failure.message)
}

/// Returns the response to a request for which the adapter gave no valid answer.
fn broken(reason: &str) -> Answer {
    refused(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", reason)
}

fn not_allowed() -> Answer {
    let reason = "the shim does not serve this method here";
    refused(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", reason)
}
