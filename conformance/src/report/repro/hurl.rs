//! Hurl reproducers, which fail as long as the target has the failure.

use std::collections::BTreeSet;

use serde_json::Value;

use super::FailedRule;
use super::call::{Call, Part, parts, segments};
use crate::http_client::request::{Body, Request};
use crate::http_client::wire::Wire;
use crate::judge::verdict::Difference;
use crate::scenario::Check;
use crate::visible;

/// Builds the whole Hurl file; none if Hurl cannot send a request (bytes that are not HTTP) or
/// cannot express the failure, as a file that always passes would mislead.
pub(super) fn file(failed: &FailedRule<'_>) -> Option<String> {
    let calls = &failed.calls;
    let mut lines: Vec<String> = failed
        .head()
        .iter()
        .map(|line| format!("# {line}"))
        .collect();
    let base = calls.base.as_deref().unwrap_or("http://…");
    let mut command = format!("hurl --variable base={base}");
    for (name, _) in &calls.tokens {
        command.push_str(&format!(" --variable {name}=\"${name}\""));
    }
    lines.push(format!("# Run it with: {command} FILE"));
    for (index, call) in calls.calls.iter().enumerate() {
        let Wire::Http(request) = &call.wire else {
            return None;
        };
        let last = index + 1 == calls.calls.len();
        lines.push(String::new());
        lines.extend(entry(&Request::of(request)));
        let expected =
            expected_response(call, last.then_some(failed.failure.differences.as_slice()));
        if last && expected.is_nothing() {
            return None;
        }
        lines.extend(response(call, expected));
    }
    Some(lines.join("\n") + "\n")
}

fn entry(request: &Request<'_>) -> Vec<String> {
    let mut lines = vec![format!(
        "{} {{{{base}}}}{}",
        request.method,
        fill(request.path)
    )];
    for (name, value) in request.headers {
        lines.push(format!("{name}: {}", escape(&fill(value))));
    }
    match &request.body {
        Body::Empty => {}
        // Hurl sends a JSON document as written here.
        Body::Text(text) if is_json(text) && !text.contains("{{") => {
            lines.push(visible::json(&fill(text)));
        }
        body => lines.push(format!("base64,{};", body.base64())),
    }
    lines
}

/// Expectations on a response in Hurl's syntax.
struct ExpectedResponse {
    status: Option<String>,
    asserts: BTreeSet<String>,
}

impl ExpectedResponse {
    fn is_nothing(&self) -> bool {
        self.status.is_none() && self.asserts.is_empty()
    }

    fn success(&mut self) {
        let success = ["status >= 200", "status < 300"];
        self.asserts.extend(success.map(str::to_owned));
    }
}

/// Returns the expectations on a response: success for a prerequisite request, the expected values
/// for the failing one.
fn expected_response(call: &Call<'_>, failing: Option<&[Difference]>) -> ExpectedResponse {
    let mut response = ExpectedResponse {
        status: None,
        asserts: BTreeSet::new(),
    };
    if call.step.given && call.step.shows.is_empty() {
        response.success();
    }
    for check in &call.step.shows {
        match check {
            Check::Status(code) => response.status = Some(code.to_string()),
            Check::StatusFrom(low, high) => {
                response.asserts.insert(format!("status >= {low}"));
                response.asserts.insert(format!("status <= {high}"));
            }
            Check::Equals(pointer, value) => response.asserts.extend(assertions(pointer, value)),
            _ => {}
        }
    }
    for difference in failing.into_iter().flatten() {
        // The whole body is named `body`, optionally followed by a pointer into it.
        let path = match difference.path.strip_prefix("body") {
            Some(inside) if inside.starts_with('/') => inside,
            _ => &difference.path,
        };
        match (path, difference.expected.as_str()) {
            ("status", code) if code.parse::<u16>().is_ok() => {
                response.status = Some(code.to_owned());
            }
            ("status", "<success>") => response.success(),
            ("status", "<error>") => {
                response.asserts.insert("status >= 400".to_owned());
            }
            ("body", expected) => response.asserts.extend(expectations("", expected)),
            (path, expected) if path.starts_with('/') && !path.contains("<ns>") => {
                response.asserts.extend(expectations(path, expected));
            }
            _ => {}
        }
    }
    response
}

fn response(call: &Call<'_>, expected: ExpectedResponse) -> Vec<String> {
    let mut lines = vec![format!(
        "HTTP {}",
        expected.status.as_deref().unwrap_or("*")
    )];
    if !call.step.capture.is_empty() {
        lines.push("[Captures]".to_owned());
    }
    for (name, pointer) in &call.step.capture {
        let path = path(pointer);
        lines.push(format!("{name}: jsonpath {path}"));
        lines.push(format!("{name}_encoded: jsonpath {path} urlEncode"));
    }
    if !expected.asserts.is_empty() {
        lines.push("[Asserts]".to_owned());
        lines.extend(expected.asserts);
    }
    lines
}

/// Returns the Hurl predicates for a value in the transcript's notation.
pub(super) fn expectations(pointer: &str, expected: &str) -> Vec<String> {
    let predicate = match expected {
        "<absent>" => "not exists",
        "<string>" | "<text>" => "isString",
        "<number>" => "isNumber",
        "<integer>" => "isInteger",
        "<boolean>" => "isBoolean",
        "<array>" => "isCollection",
        "<object>" => "exists",
        _ => {
            let value: Option<Value> = serde_json::from_str(expected).ok();
            return value.map_or_else(Vec::new, |value| assertions(pointer, &value));
        }
    };
    vec![format!("jsonpath {} {predicate}", path(pointer))]
}

/// Returns assertions that a value equals this one, as far as Hurl can express it: scalars, and the
/// length of an array.
fn assertions(pointer: &str, expected: &Value) -> Vec<String> {
    let within = |(key, value): (String, &Value)| {
        let key = key.replace('~', "~0").replace('/', "~1");
        assertions(&format!("{pointer}/{key}"), value)
    };
    match expected {
        Value::String(text) if text.contains("<ns>") || text.contains("{{") => Vec::new(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.filter(|(key, _)| !key.contains("<ns>"));
            members
                .flat_map(|(key, value)| within((key.clone(), value)))
                .collect()
        }
        Value::Array(items) => {
            let count = format!("jsonpath {} count == {}", path(pointer), items.len());
            let items = items.iter().enumerate();
            let items = items.flat_map(|(place, item)| within((place.to_string(), item)));
            std::iter::once(count).chain(items).collect()
        }
        Value::String(text) => vec![format!("jsonpath {} == {}", path(pointer), quoted(text))],
        scalar => vec![format!("jsonpath {} == {scalar}", path(pointer))],
    }
}

/// Converts a JSON pointer to a quoted JSONPath for Hurl.
fn path(pointer: &str) -> String {
    let steps = segments(pointer).into_iter().map(|segment| match segment {
        Value::String(key) => {
            format!("['{}']", key.replace('\\', "\\\\").replace('\'', "\\'"))
        }
        index => format!("[{index}]"),
    });
    quoted(&format!("${}", steps.collect::<String>()))
}

/// Quotes a string for Hurl.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "\"{}\"",
        escaped(&text.replace('\n', "\\n").replace('\t', "\\t"))
    )
}

/// Replaces invisible characters with Hurl's escape sequences.
fn escaped(text: &str) -> String {
    let parts = visible::parts(text).into_iter().map(|part| match part {
        Ok(text) => text.to_owned(),
        Err(character) => format!("\\u{{{:x}}}", u32::from(character)),
    });
    parts.collect()
}

fn fill(text: &str) -> String {
    parts(text)
        .iter()
        .map(|part| match part {
            Part::Text(text) => (*text).to_owned(),
            Part::Variable(name) => format!("{{{{{name}}}}}"),
            Part::Encoded(name) => format!("{{{{{name}_encoded}}}}"),
        })
        .collect()
}

/// Escapes a header's value for Hurl, where `#` would begin a comment.
fn escape(text: &str) -> String {
    escaped(&text.replace('\\', "\\\\").replace('#', "\\#"))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object() || value.is_array())
}
