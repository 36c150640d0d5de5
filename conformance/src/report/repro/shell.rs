//! A reproducer as a shell script: curl, and jq where an answer is used again. (A pattern for
//! `sed` would break on the first answer that is laid out in another way.)

use base64::Engine as _;
use serde_json::json;

use super::call::{Call, Part, parts, segments};
use super::{Story, check};
use crate::client::wire::{Outgoing, Wire};

/// The whole script. Each answer is shown; the last one is what fails. It ends with 1 where the
/// failure shows, with 0 where it does not, and with 125 where that cannot be said, as
/// `git bisect run` takes it.
pub(super) fn script(story: &Story<'_>) -> String {
    let mut lines = vec!["#!/bin/sh".to_owned()];
    lines.extend(story.head().iter().map(|line| format!("# {line}")));
    let calls = &story.calls;
    let mut needs = vec!["curl"];
    let conditions = check::conditions(story);
    if calls.captures() || conditions.iter().any(|one| one.json) {
        needs.push("jq");
    }
    if calls.are_raw() {
        needs.push("nc (for https openssl)");
    }
    lines.push(format!("# Needs {}.", needs.join(", ")));
    lines.push(
        "# Ends with 1 if the server shows the failure, 0 if not, 125 if that is not clear."
            .to_owned(),
    );
    lines.push("set -eu".to_owned());
    let tools = needs.iter().filter(|tool| !tool.contains(' '));
    lines.extend(tools.map(|tool| {
        format!("command -v {tool} > /dev/null || {{ echo '{tool} is missing'; exit 125; }}")
    }));
    // 6 and 7 of curl: there is no such host, and nothing listens.
    lines.push(
        "unanswered() { case $1 in 6 | 7) exit 125 ;; *) echo 'fails: no answer'; exit 1 ;; esac; }"
            .to_owned(),
    );
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
    lines.extend(check::lines(&conditions));
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
                "esac | tee \"$answer\"".to_owned(),
            ]
        }
        Wire::Http(request) => vec![
            format!("{} || unanswered $?", http(request)),
            "cat \"$answer\"; echo".to_owned(),
        ],
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

/// A text as one word of the shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A word of the shell, with its variables.
fn word(text: &str) -> String {
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
