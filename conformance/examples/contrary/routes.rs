//! Routes requests to their handlers.

use std::collections::BTreeMap;
use std::time::Instant;

use http::{StatusCode, request::Parts};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Failure};
use crate::policies::Module;
use crate::{body, data, documents, policies};

/// Policies and documents of the engine.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) documents: Map<String, Value>,
    pub(crate) modules: BTreeMap<String, Module>,
    pub(crate) decisions: u64,
}

impl State {
    /// Returns the document at a path, whether it is a base document or computed by a rule.
    pub(crate) fn find(&self, path: &[&str]) -> Option<Value> {
        if self.modules.is_empty() {
            return documents::find(&self.documents, path).cloned();
        }
        let mut whole = self.documents.clone();
        for module in self.modules.values() {
            for (rule, value) in &module.rules {
                let place: Vec<&str> = module.path(rule).collect();
                // A document in the way of a rule hides it.
                let _hidden = documents::put(&mut whole, &place, value.clone()).is_err();
            }
        }
        documents::find(&whole, path).cloned()
    }
}

/// A parsed request.
pub(crate) struct Call<'r> {
    pub(crate) head: &'r Parts,
    pub(crate) body: Vec<u8>,
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) start: Instant,
    segments: Vec<String>,
}

impl<'r> Call<'r> {
    /// # Errors
    ///
    /// The path is not UTF-8, a parameter is invalid, or the body cannot be decoded.
    pub(crate) fn read(head: &'r Parts, body: &[u8]) -> Result<Self, Failure> {
        let start = Instant::now();
        let segments = head.uri.path().split('/').skip(1);
        let segments = segments.map(|segment| {
            let text = percent_decode_str(segment).decode_utf8();
            text.map(|text| text.into_owned())
                .map_err(|_| Failure::invalid("the path is not UTF-8"))
        });
        let parameters: Vec<_> = body::parameters(head).collect();
        for (name, value) in &parameters {
            let listed: &[&str] = match name.as_str() {
                "pretty" | "provenance" | "metrics" | "instrument" | "strict-builtin-errors" => {
                    &["true", "false"]
                }
                "explain" => &["off", "full", "debug", "notes", "fails"],
                _ => continue,
            };
            if !listed.contains(&value.as_str()) {
                return Err(Failure::invalid(format!("{name} cannot be {value:?}")));
            }
        }
        Ok(Self {
            segments: segments.collect::<Result<_, _>>()?,
            body: body::unpacked(head, body)?,
            head,
            parameters,
            start,
        })
    }

    pub(crate) fn is_requested(&self, name: &str) -> bool {
        self.parameter(name) == Some("true")
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self.parameters.iter();
        pairs
            .find(|pair| pair.0 == name)
            .map(|pair| pair.1.as_str())
    }
}

/// # Errors
///
/// There is no such path, the path does not support the method, or the handler rejects the request.
pub(crate) fn route(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let segments: Vec<&str> = call.segments.iter().map(String::as_str).collect();
    let method = match call.head.method.as_str() {
        // The body is left out where the answer is sent.
        "HEAD" if segments.get(..2) != Some(&["v1", "data"]) => "GET",
        method => method,
    };
    match (method, segments.as_slice()) {
        (_, ["v1", "data"]) => Err(Failure::missing("a path of at least one segment is wanted")),
        ("GET", ["v1", "data", path @ ..]) => data::get(state, call, path),
        ("POST", ["v1", "data", path @ ..]) => data::post(state, call, path),
        ("PUT", ["v1", "data", path @ ..]) => data::put(state, call, path),
        ("PATCH", ["v1", "data", path @ ..]) => data::patch(state, call, path),
        ("DELETE", ["v1", "data", path @ ..]) => data::delete(state, call, path),
        (_, ["v1", "data", ..]) => Err(Failure::method("GET, POST, PUT, PATCH, DELETE")),
        ("POST", ["v0", "data", path @ ..]) if !path.is_empty() => {
            data::decide_v0(state, call, path)
        }
        ("POST", [""]) => data::decide_v0(state, call, &["system", "main"]),
        ("GET", ["v1", "policies"]) => Ok(policies::list(state)),
        ("GET", ["v1", "policies", id]) => policies::get(state, id),
        ("PUT", ["v1", "policies", id]) => policies::put(state, call, id),
        ("DELETE", ["v1", "policies", id]) => policies::delete(state, call, id),
        ("GET", ["health"]) => Ok(Answer::ok(json!({}))),
        ("GET", ["health", rule]) => Ok(health(state, rule)),
        ("GET", ["v1", "config"]) => Ok(Answer::ok(
            json!({"result": {"labels": {"id": "the only one"}}}),
        )),
        (method, path) => other(method, path),
    }
}

/// Responds to a method that a path does not support.
fn other(method: &str, path: &[&str]) -> Result<Answer, Failure> {
    let allowed = match path {
        ["v0", "data", _, ..] | [""] => "OPTIONS, POST",
        ["v1", "policies", _] => "DELETE, GET, HEAD, OPTIONS, PUT",
        ["v1", "policies" | "config"] | ["health"] | ["health", _] => "GET, HEAD, OPTIONS",
        _ => return Err(Failure::missing("nothing is here")),
    };
    match method {
        "OPTIONS" => Ok(Answer::empty(StatusCode::NO_CONTENT).allow(allowed)),
        _ => Err(Failure::method(allowed)),
    }
}

/// Responds with whether this rule of the package `system.health` is true.
fn health(state: &State, rule: &str) -> Answer {
    let was = match state.find(&["system", "health", rule]) {
        Some(Value::Bool(true)) => return Answer::ok(json!({})),
        Some(_) => "not true",
        None => "undefined",
    };
    let error = format!("health policy was {was} at data.system.health.{rule}");
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    Answer::with(status, Some(json!({"error": error})))
}
