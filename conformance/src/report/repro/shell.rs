//! A reproducer as a shell script: curl, and jq where an answer is used again. (A pattern for
//! `sed` would break on the first answer that is laid out in another way.)

use base64::Engine as _;
use serde_json::json;

use super::Story;
use super::call::{Call, Part, parts, segments};
use crate::client::wire::{Outgoing, Wire};

/// The whole script. Each answer is shown; the last one is what fails.
pub(super) fn script(story: &Story<'_>) -> String {
    let mut lines = vec!["#!/bin/sh".to_owned()];
    lines.extend(story.head().iter().map(|line| format!("# {line}")));
    let calls = &story.calls;
    let mut needs = vec!["curl"];
    if calls.captures() {
        needs.push("jq");
    }
    if calls.are_raw() {
        needs.push("nc (for https openssl)");
    }
    lines.push(format!("# Needs {}.", needs.join(", ")));
    lines.push("set -eu".to_owned());
    match &calls.base {
        Some(url) => {
            lines.push(format!("default={}", word(url)));
            lines.push("BASE=${BASE:-$default}".to_owned());
        }
        None => lines.push(": \"${BASE:?the address of the server}\"".to_owned()),
    }
    for (name, role) in &calls.tokens {
        lines.push(format!(": \"${{{name}:?the token of the {role}}}\""));
    }
    lines.push("answer=$(mktemp)".to_owned());
    // What fails leaves nothing behind either.
    lines.push("clean() {".to_owned());
    let removals = calls.removals.iter();
    lines.extend(removals.map(|removal| format!("  {} || true", http(removal))));
    lines.extend(["  rm -f \"$answer\"", "}", "trap clean EXIT"].map(str::to_owned));
    for (call, number) in calls.calls.iter().zip(1..) {
        lines.push(String::new());
        lines.push(format!(
            "echo '--- request {number} of {}'",
            calls.calls.len()
        ));
        lines.extend(request(call));
    }
    lines.join("\n") + "\n"
}

fn request(call: &Call<'_>) -> Vec<String> {
    let mut lines = match &call.wire {
        Wire::Raw(bytes) => {
            let bytes = String::from_utf8_lossy(bytes);
            // The address of a raw request is in its bytes as well.
            let bytes = bytes.replace("base.invalid", "\u{e000}host\u{e001}");
            vec![
                "host=${BASE#*://}; host=${host%%/*}".to_owned(),
                "case $BASE in https:*) port=443 ;; *) port=80 ;; esac".to_owned(),
                "case $host in *:*[0-9]) ;; *) host=$host:$port ;; esac".to_owned(),
                format!("printf %s {} | case $BASE in", word(&bytes)),
                "  https:*) openssl s_client -quiet -connect \"$host\" ;;".to_owned(),
                "  *) nc \"$(echo \"${host%:*}\" | tr -d '[]')\" \"${host##*:}\" ;;".to_owned(),
                "esac".to_owned(),
            ]
        }
        Wire::Http(request) => vec![http(request), "cat \"$answer\"; echo".to_owned()],
    };
    for (name, pointer) in &call.step.capture {
        let path: Vec<_> = segments(pointer)
            .into_iter()
            .map(|segment| segment.map_or_else(|key| json!(key), |index| json!(index)))
            .collect();
        let path = word(&format!("getpath({})", json!(path)));
        // The body follows the first empty line of what curl shows.
        lines.push(format!(
            "{name}=$(sed '1,/^\\r*$/d' \"$answer\" | jq -rcS {path})"
        ));
        lines.push(format!(
            "{name}_encoded=$(printf %s \"${name}\" | jq -sRr @uri)"
        ));
    }
    lines
}

fn http(request: &Outgoing) -> String {
    let mut line = "curl -sS -i -g --path-as-is -o \"$answer\"".to_owned();
    match request.method {
        "GET" if request.body.is_empty() => {}
        "HEAD" => line.push_str(" -I"),
        method => line.push_str(&format!(" -X {method}")),
    }
    for (name, value) in &request.headers {
        line.push_str(&format!(" -H {}", word(&format!("{name}: {value}"))));
    }
    let mut input = String::new();
    match std::str::from_utf8(&request.body) {
        Ok("") => {}
        // curl reads a file where a body starts with `@`.
        Ok(text) if !text.starts_with('@') => {
            line.push_str(&format!(" --data-binary {}", word(text)));
        }
        _ => {
            let bytes = base64::engine::general_purpose::STANDARD.encode(&request.body);
            input = format!("echo {bytes} | base64 -d | ");
            line.push_str(" --data-binary @-");
        }
    }
    format!("{input}{line} \"$BASE\"{}", word(&request.path))
}

/// A word of the shell, with its variables.
fn word(text: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let parts = parts(text);
    if parts.is_empty() {
        return "''".to_owned();
    }
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => quoted(text),
            Part::Variable(name) => format!("\"${name}\""),
            Part::Encoded(name) => format!("\"${name}_encoded\""),
        })
        .collect()
}
