//! Expected requests of a client.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;

use super::exchange::decoded_body;
use crate::judge::verdict::Difference;
use crate::mock::Request;
use crate::scenario::numbers::same;

/// Expectation on the requests with one of these methods and this path: at least one exists, and
/// each of them conforms.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ExpectedRequest {
    /// Methods of the requests; any if empty.
    method: Vec<String>,
    /// Decoded path segments of the requests: clients may encode them in different ways.
    path: Option<Vec<String>>,
    /// Number of such requests; by default, one or more.
    times: Option<usize>,
    /// Maximum number of such requests.
    at_most: Option<usize>,
    /// Headers that each request has, with globs for their values.
    headers: BTreeMap<String, String>,
    /// Headers that no request has.
    no_headers: Vec<String>,
    /// Query parameters that each request has, decoded, with globs that one of the values matches.
    query: BTreeMap<String, String>,
    /// Query parameters that no request has.
    no_query: Vec<String>,
    /// Values in the JSON body of each request, by JSON pointer.
    json: BTreeMap<String, Value>,
    /// JSON pointers that exist in the body of each request.
    has: Vec<String>,
    /// JSON pointers that do not exist in the body of any request.
    lacks: Vec<String>,
    /// The whole body of each request, as a string.
    body: Option<String>,
}

/// Splits a path into decoded segments.
fn segments(target: &str) -> Vec<String> {
    let path = target.split('?').next().unwrap_or_default();
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split('/').map(decoded).collect()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Parses the query parameters of a request target, decoded as in forms.
fn parameters(target: &str) -> Vec<(String, String)> {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let read = |text: &str| decoded(&text.replace('+', " "));
            (read(name), read(value))
        })
        .collect()
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text).case_insensitive(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("invalid glob `{text}`: {}", error.kind()))
}

/// Returns the values of a header, joined by commas.
fn header(request: &Request, name: &str) -> Option<String> {
    let values = request.headers.iter();
    let values: Vec<&str> = values
        .filter(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}

impl ExpectedRequest {
    /// Checks the globs of the expectation.
    ///
    /// # Errors
    /// A message that names an invalid glob.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut globs = self.headers.values().chain(self.query.values());
        globs.try_for_each(|text| glob(text).map(|_| ()))
    }

    /// Returns the differences between the received requests and the expectation.
    pub(super) fn differences(&self, received: &[Request]) -> Vec<Difference> {
        let selected: Vec<&Request> = received.iter().filter(|one| self.selects(one)).collect();
        let count = selected.len();
        let unexpected_count = match (self.times, self.at_most) {
            (Some(times), _) if count != times => Some(format!("{times}")),
            (None, Some(maximum)) if count > maximum => Some(format!("{maximum} at most")),
            (None, None) if count == 0 => Some("one or more".to_owned()),
            _ => None,
        };
        if let Some(expected_count) = unexpected_count {
            let lines = received.iter().map(line);
            return vec![Difference {
                path: format!("received {}", self.name()),
                expected: format!("{expected_count} such"),
                got: format!("{count}, of: {}", lines.collect::<Vec<_>>().join(", ")),
            }];
        }
        selected
            .into_iter()
            .flat_map(|one| self.request_differences(one))
            .collect()
    }

    fn selects(&self, request: &Request) -> bool {
        (self.method.is_empty() || self.method.contains(&request.method))
            && self
                .path
                .as_ref()
                .is_none_or(|path| *path == segments(&request.target))
    }

    fn name(&self) -> String {
        let methods = match self.method.as_slice() {
            [] => "requests".to_owned(),
            methods => methods.join(" or "),
        };
        match &self.path {
            Some(path) => format!("{methods} of /{}", path.join("/")),
            None => methods,
        }
    }

    /// Returns the differences of one request.
    fn request_differences(&self, request: &Request) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut differ = |place: String, expected: String, got: String| {
            found.push(Difference {
                path: format!("received {}: {place}", line(request)),
                expected,
                got,
            });
        };
        let matches = |text: &str, value: &str| glob(text).is_ok_and(|glob| glob.is_match(value));
        for (name, expected) in &self.headers {
            let value = header(request, name);
            if !value
                .as_deref()
                .is_some_and(|value| matches(expected, value))
            {
                differ(format!("header {name}"), expected.clone(), or_none(value));
            }
        }
        for name in &self.no_headers {
            if let Some(value) = header(request, name) {
                differ(format!("header {name}"), "none".to_owned(), value);
            }
        }
        let parameters = parameters(&request.target);
        let values = |name: &str| -> Vec<String> {
            let all = parameters.iter();
            all.filter(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
                .collect()
        };
        for (name, expected) in &self.query {
            let values = values(name);
            if !values.iter().any(|value| matches(expected, value)) {
                let got = (!values.is_empty()).then(|| values.join(", "));
                differ(format!("parameter {name}"), expected.clone(), or_none(got));
            }
        }
        for name in &self.no_query {
            if let Some(value) = values(name).first() {
                differ(
                    format!("parameter {name}"),
                    "none".to_owned(),
                    value.clone(),
                );
            }
        }
        let body_bytes = decoded_body(request);
        if let Some(expected) = &self.body
            && body_bytes != expected.as_bytes()
        {
            let got = String::from_utf8_lossy(&body_bytes).into_owned();
            differ("body".to_owned(), expected.clone(), got);
        }
        if !(self.json.is_empty() && self.has.is_empty() && self.lacks.is_empty()) {
            let body: Option<Value> = serde_json::from_slice(&body_bytes).ok();
            let at = |pointer: &str| body.as_ref().and_then(|body| body.pointer(pointer));
            for (pointer, expected) in &self.json {
                let value = at(pointer);
                if !value.is_some_and(|value| same(expected, value)) {
                    let got = or_none(value.map(Value::to_string));
                    differ(format!("body at {pointer:?}"), expected.to_string(), got);
                }
            }
            for pointer in self.has.iter().filter(|pointer| at(pointer).is_none()) {
                let (some, none) = ("something".to_owned(), or_none(None));
                differ(format!("body at {pointer:?}"), some, none);
            }
            for pointer in &self.lacks {
                if let Some(value) = at(pointer) {
                    let got = value.to_string();
                    differ(format!("body at {pointer:?}"), or_none(None), got);
                }
            }
        }
        found
    }
}

fn or_none(value: Option<String>) -> String {
    value.unwrap_or_else(|| "none".to_owned())
}

/// Formats method and target of a request.
fn line(request: &Request) -> String {
    format!("{} {}", request.method, request.target)
}
