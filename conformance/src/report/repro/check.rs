//! Check of the last response at the end of a shell reproducer.

use serde_json::{Value, json};

use super::FailedRule;
use super::call::{Call, quoted, segments};
use crate::judge::verdict::Difference;
use crate::scenario::Check;
use crate::visible::{self, visible_line};

/// Shell line that reads the status of the last response, after any heads of `100 Continue`.
const STATUS: &str = "status=$(awk 'toupper($1) ~ /^HTTP\\// { s = $2 } /^\\r?$/ && s >= 200 { exit } END { print s + 0 }' \"$answer\")";
/// Shell function that reads a header of the last response, by lower-case name; several values are
/// joined by commas.
const HEADER: &str = r#"header() { awk -v name="$1" 'toupper($1) ~ /^HTTP\// { s = $2; v = "" } /^\r?$/ && s >= 200 { exit } { sub(/\r$/, ""); i = index($0, ":"); if (i && tolower(substr($0, 1, i - 1)) == name) { t = substr($0, i + 1); gsub(/^[ \t]+|[ \t]+$/, "", t); v = v (v == "" ? "" : ", ") t } } END { print v }' "$answer"; }"#;
/// Shell line that reads the body of the last response.
const BODY: &str = "body=$(sed '1,/^\\r*$/d' \"$answer\")";

/// A shell condition that is true if the server passes the rule, and its description.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) shell: String,
    expects: String,
    /// Whether the condition reads JSON, which requires `jq`.
    pub(super) json: bool,
}

/// Returns conditions on the last response, as far as a shell can express them.
pub(super) fn conditions(failed: &FailedRule<'_>) -> Vec<Condition> {
    let differences = failed.failure.differences.iter();
    let differ: Vec<_> = differences.filter_map(of_difference).collect();
    match failed.calls.calls.last() {
        Some(last) if differ.is_empty() && last.step.given => of_given_step(last),
        _ => differ,
    }
}

/// Returns the lines that check the last response and end the script, with exit code 1 if the
/// response shows the failure, 0 if not, and 125 if a shell cannot decide.
pub(super) fn lines(conditions: &[Condition]) -> Vec<String> {
    if conditions.is_empty() {
        let undecided =
            "echo 'Compare the answer with what is expected, at the head of this file.'";
        return vec![String::new(), undecided.to_owned(), "exit 125".to_owned()];
    }
    let mut lines = vec![String::new(), STATUS.to_owned(), BODY.to_owned()];
    if conditions.iter().any(|one| one.shell.contains("$(header ")) {
        lines.push(HEADER.to_owned());
    }
    for Condition { shell, expects, .. } in conditions {
        let message = quoted(&format!("fails: {}", visible_line(expects)));
        lines.push(format!("if ! {shell}; then echo {message}; exit 1; fi"));
    }
    lines.push("echo holds".to_owned());
    lines
}

fn of_difference(difference: &Difference) -> Option<Condition> {
    let expected = difference.expected.as_str();
    let path = match difference.path.strip_prefix("body") {
        Some("") => "",
        Some(inside) if inside.starts_with('/') => inside,
        _ => &difference.path,
    };
    let (shell, json) = match path {
        "status" => (status(expected)?, false),
        "" if expected == "<empty>" => ("[ -z \"$body\" ]".to_owned(), false),
        "media-type" => (header("content-type", expected)?, false),
        path if path.starts_with("header ") => {
            let name = path.trim_start_matches("header ").to_ascii_lowercase();
            (header(&name, expected)?, false)
        }
        path if path.is_empty() || path.starts_with('/') => (value(path, expected)?, true),
        _ => return None,
    };
    let expects = format!("{}: expected {expected}", difference.path);
    Some(Condition {
        shell,
        expects,
        json,
    })
}

/// Returns conditions on the response to a prerequisite request.
fn of_given_step(call: &Call<'_>) -> Vec<Condition> {
    let condition = |shell: String, expects: String| Condition {
        shell,
        expects,
        json: false,
    };
    if call.step.shows.is_empty() {
        let success = status("<success>").unwrap_or_default();
        return vec![condition(success, "expected success".to_owned())];
    }
    let codes = call.step.shows.iter().filter_map(|check| match check {
        Check::Status(code) => {
            let shell = status(&code.to_string())?;
            Some(condition(shell, format!("status: expected {code}")))
        }
        _ => None,
    });
    codes.collect()
}

fn status(expected: &str) -> Option<String> {
    match expected {
        "<success>" => Some("[ \"$status\" -ge 200 -a \"$status\" -lt 300 ]".to_owned()),
        "<error>" => Some("[ \"$status\" -ge 400 ]".to_owned()),
        _ => {
            let inner = expected
                .strip_prefix('<')
                .and_then(|rest| rest.strip_suffix('>'));
            let codes = inner.unwrap_or(expected).split(" or ");
            let codes: Option<Vec<u16>> = codes.map(|code| code.parse().ok()).collect();
            let tests = codes?
                .into_iter()
                .map(|code| format!("\"$status\" = {code}"));
            Some(format!("[ {} ]", tests.collect::<Vec<_>>().join(" -o ")))
        }
    }
}

/// Returns a condition on a header, if its expected value is fixed: a vendor's media type varies. A
/// media type is compared without parameters; it and a content coding are compared
/// case-insensitively.
fn header(name: &str, expected: &str) -> Option<String> {
    let read = format!("$(header {})", quoted(name));
    if expected == "<absent>" {
        return Some(format!("[ -z \"{read}\" ]"));
    }
    if expected.contains(['<', '\n']) || expected.contains("/vnd.") {
        return None;
    }
    let read = match name {
        "content-type" => format!("{read}; v=${{v%%;*}}"),
        _ => read,
    };
    let quoted_expected = quoted(expected);
    Some(match name {
        "content-type" | "content-encoding" => {
            format!("{{ v={read}; [ \"$(echo $v | tr A-Z a-z)\" = {quoted_expected} ]; }}")
        }
        _ => format!("[ \"{read}\" = {quoted_expected} ]"),
    })
}

/// Returns a condition on the value at a pointer into the body, if the expected value is fixed.
fn value(pointer: &str, expected: &str) -> Option<String> {
    if pointer.contains("<ns>") {
        return None;
    }
    let path = json!(segments(pointer));
    let filter = match expected {
        "<absent>" => format!("any(paths; . == {path}) | not"),
        "<string>" | "<text>" => of_type(&path, "string"),
        "<number>" | "<integer>" => of_type(&path, "number"),
        "<boolean>" => of_type(&path, "boolean"),
        "<array>" => of_type(&path, "array"),
        "<object>" => of_type(&path, "object"),
        _ if expected.contains('<') => return None,
        _ => {
            let expected_value: Value = serde_json::from_str(expected).ok()?;
            visible::json(&format!("getpath({path}) == {expected_value}"))
        }
    };
    // A number in a pointer may be the name of a member, which `getpath` rejects.
    let filter = quoted(&format!("try ({filter}) catch false"));
    Some(format!(
        "printf %s \"$body\" | jq -e {filter} > /dev/null 2>&1"
    ))
}

fn of_type(path: &Value, name: &str) -> String {
    format!("(getpath({path}) | type) == \"{name}\"")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::status("status", "204", Some("[ \"$status\" = 204 ]"))]
    #[case::one_of_two_statuses(
        "status",
        "<400 or 500>",
        Some("[ \"$status\" = 400 -o \"$status\" = 500 ]")
    )]
    #[case::any_status("status", "<some>", None)]
    #[case::value("/a", "1", Some("getpath([\"a\"]) == 1"))]
    #[case::absent("/a/0", "<absent>", Some("any(paths; . == [\"a\",0]) | not"))]
    #[case::kind("body", "<array>", Some("(getpath([]) | type) == \"array\""))]
    #[case::number("body/a", "<number from 0>", None)]
    #[case::namespace("/a", "\"<ns>\"", None)]
    #[case::header("header Allow", "GET", Some("[ \"$(header 'allow')\" = 'GET' ]"))]
    #[case::absent_header("header Allow", "<absent>", Some("[ -z \"$(header 'allow')\" ]"))]
    #[case::any_header("header Allow", "<other>", None)]
    #[case::media_type("media-type", "application/json", Some("= 'application/json' ]; }"))]
    #[case::media_type_of_a_vendor("media-type", "application/vnd.engine.a+json", None)]
    #[case::empty_body("body", "<empty>", Some("[ -z \"$body\" ]"))]
    fn what_was_expected_is_asked_as_far_as_a_shell_can_say_it(
        #[case] path: &str,
        #[case] expected: &str,
        #[case] fragment: Option<&str>,
    ) {
        let difference = Difference {
            path: path.to_owned(),
            expected: expected.to_owned(),
            got: String::new(),
        };
        let found = of_difference(&difference).map(|one| one.shell);
        let same = match (&found, fragment) {
            (Some(found), Some(fragment)) => found.contains(fragment),
            (found, fragment) => found.is_none() && fragment.is_none(),
        };
        assert!(same, "{found:?}");
    }

    #[test]
    fn a_script_that_cannot_decide_says_neither() {
        // A script that cannot decide reports neither success nor failure.
        assert_eq!(lines(&[]).last().map(String::as_str), Some("exit 125"));
    }
}
