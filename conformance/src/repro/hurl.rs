//! A reproducer as a file for Hurl, which fails where the target fails.

use std::collections::BTreeSet;

use base64::Engine as _;
use serde_json::{Value, json};

use super::Story;
use super::call::{Call, Part, parts, segments};
use crate::client::Outgoing;
use crate::outgoing::Wire;
use crate::verdict::Difference;

/// The whole file; none for what Hurl cannot send: bytes that are no HTTP.
pub(super) fn file(story: &Story<'_>) -> Option<String> {
    let calls = &story.calls;
    let mut lines: Vec<String> = story
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
        lines.extend(entry(request));
        lines.extend(response(
            call,
            last.then_some(story.failure.differences.as_slice()),
        ));
    }
    Some(lines.join("\n") + "\n")
}

fn entry(request: &Outgoing) -> Vec<String> {
    let mut lines = vec![format!(
        "{} {{{{base}}}}{}",
        request.method,
        filled(&request.path)
    )];
    for (name, value) in &request.headers {
        lines.push(format!("{name}: {}", escaped(&filled(value))));
    }
    match std::str::from_utf8(&request.body) {
        Ok("") => {}
        // Hurl sends a JSON document as it is written here.
        Ok(text) if is_json(text) && !text.contains("{{") => lines.push(filled(text)),
        _ => {
            let bytes = base64::engine::general_purpose::STANDARD.encode(&request.body);
            lines.push(format!("base64,{bytes};"));
        }
    }
    lines
}

/// What is asked of an answer: success where it sets the scene, what was expected where it fails.
fn response(call: &Call<'_>, failing: Option<&[Difference]>) -> Vec<String> {
    let mut asserts: BTreeSet<String> = BTreeSet::new();
    let mut status = "*".to_owned();
    if call.step.given {
        asserts.extend(["status >= 200", "status < 300"].map(str::to_owned));
    }
    for difference in failing.into_iter().flatten() {
        // The whole body is named, a place inside it may be too.
        let path = match difference.path.strip_prefix("body") {
            Some(inside) if inside.starts_with('/') => inside,
            _ => &difference.path,
        };
        match (path, difference.expected.as_str()) {
            ("status", code) if code.parse::<u16>().is_ok() => status = code.to_owned(),
            ("status", "<success>") => {
                asserts.extend(["status >= 200", "status < 300"].map(str::to_owned));
            }
            ("status", "<error>") => {
                asserts.insert("status >= 400".to_owned());
            }
            (path, expected) if path.starts_with('/') && !path.contains("<ns>") => {
                asserts.extend(assertion(path, expected));
            }
            _ => {}
        }
    }
    let mut lines = vec![format!("HTTP {status}")];
    if !call.step.capture.is_empty() {
        lines.push("[Captures]".to_owned());
    }
    for (name, pointer) in &call.step.capture {
        let path = path(pointer);
        lines.push(format!("{name}: jsonpath {path}"));
        lines.push(format!("{name}_encoded: jsonpath {path} urlEncode"));
    }
    if !asserts.is_empty() {
        lines.push("[Asserts]".to_owned());
        lines.extend(asserts);
    }
    lines
}

/// What Hurl can say of a value: a scalar, or that there is none.
fn assertion(pointer: &str, expected: &str) -> Option<String> {
    let path = path(pointer);
    if expected == "<absent>" {
        return Some(format!("jsonpath {path} not exists"));
    }
    let value: Value = serde_json::from_str(expected).ok()?;
    let value = match value {
        Value::String(text) if text.contains("<ns>") || text.contains("{{") => return None,
        Value::Array(_) | Value::Object(_) => return None,
        scalar => scalar.to_string(),
    };
    Some(format!("jsonpath {path} == {value}"))
}

/// A JSON pointer as the quoted JSONPath that Hurl reads.
fn path(pointer: &str) -> String {
    let steps = segments(pointer).into_iter().map(|segment| match segment {
        Ok(index) => format!("[{index}]"),
        Err(key) => format!("['{}']", key.replace('\\', "\\\\").replace('\'', "\\'")),
    });
    json!(format!("${}", steps.collect::<String>())).to_string()
}

fn filled(text: &str) -> String {
    parts(text)
        .iter()
        .map(|part| match part {
            Part::Text(text) => (*text).to_owned(),
            Part::Variable(name) => format!("{{{{{name}}}}}"),
            Part::Encoded(name) => format!("{{{{{name}_encoded}}}}"),
        })
        .collect()
}

/// In a header's value a `#` would begin a comment.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#")
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object() || value.is_array())
}
