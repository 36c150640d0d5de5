//! A reproducer as a shell script: curl, and jq where a value of a response is reused. (A pattern
//! for `sed` would fail on the first response with another format.)

use serde_json::json;

use super::call::{Call, Part, parts, quoted, segments};
use super::{FailedRule, check};
use crate::http_client::request::Request;
use crate::http_client::wire::{Outgoing, Wire};

/// Shell function that prints the response, without what a terminal or GitHub Actions would
/// execute.
const SHOW: &str = r#"show() { cat -v "$answer" | sed 's/^/| /; s/##\[/# #[/g'; }"#;

/// Builds the whole script. Each response is printed; the last one is the failure. The exit code is
/// 1 if the failure occurs, 0 if not, and 125 if that cannot be decided, as for `git bisect run`.
pub(super) fn script(failed: &FailedRule<'_>) -> String {
    let mut lines = vec!["#!/bin/sh".to_owned()];
    lines.extend(failed.head().iter().map(|line| format!("# {line}")));
    let calls = &failed.calls;
    let mut needs = vec!["curl"];
    let conditions = check::conditions(failed);
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
    // Exit codes 6 and 7 of curl: unknown host, and connection refused.
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
    lines.push(SHOW.to_owned());
    // Cleanup also runs after a failure.
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
                "esac > \"$answer\"".to_owned(),
                "show".to_owned(),
            ]
        }
        Wire::Http(request) => vec![
            format!("{} || unanswered $?", http(request)),
            "show".to_owned(),
        ],
    };
    for (name, pointer) in &call.step.capture {
        let path = word(&format!("getpath({})", json!(segments(pointer))));
        // The body follows the first empty line of curl's output.
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
    let options = "-sS -i -g --path-as-is -o \"$answer\"";
    let url = format!("\"$BASE\"{}", word(&request.path));
    Request::of(request).curl([options, ""], &url, word)
}

/// Quotes a string that may contain variables as one shell word.
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

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use std::process::Command;

    use rstest::rstest;

    use super::*;
    use crate::visible::visible;

    #[rstest]
    #[case::empty("")]
    #[case::quote("it's")]
    #[case::invisible("a\u{202e}b\u{2066}\u{200b}\u{1b}[31m\u{7}\u{85}é")]
    #[case::commands("::error::x\n ::set-output::y\n##[error]z")]
    #[case::lines("GET / HTTP/1.1\r\nHost: a\r\n\r\n")]
    #[case::expansions("$(echo a)\\`\"%s")]
    fn words_are_seen_and_mean_the_same(#[case] text: &str) {
        let word = quoted(text);
        assert_eq!(visible(&word), word);
        let shell = Command::new("sh")
            .args(["-c", &format!("printf %s {word}")])
            .output()
            .expect("a shell");
        assert_eq!(String::from_utf8_lossy(&shell.stdout), text, "{word}");
    }

    #[test]
    fn answers_are_shown_without_commands() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("answer");
        let answer = "HTTP/1.1 200 OK\r\n\r\n\u{1b}[2J\u{202e}\0\u{9b}\n::error::x\n ##[error]y";
        std::fs::write(&file, answer).expect("a file");
        let script = format!("answer={}\n{SHOW}\nshow", file.display());
        let shell = Command::new("sh").args(["-c", &script]).output();
        let stdout = shell.expect("a shell").stdout;
        let output = String::from_utf8_lossy(&stdout);
        assert_eq!(visible(&output), output);
        assert!(output.contains("| ::error::x\n"), "{output}");
    }
}
