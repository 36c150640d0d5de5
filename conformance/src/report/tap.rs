//! TAP report, version 14: one test point for each rule, with diagnostics as YAML.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Digest, Outcome, Row, failure};
use crate::judge::verdict::{Difference, Failure, Reason, Verdict};

/// Diagnostics of a failing test point.
#[derive(Default, Serialize)]
struct Diagnostic<'a> {
    message: String,
    severity: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    section: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    states: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    request: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    differences: &'a [Difference],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    curl: &'a [String],
}

/// Renders the report; findings other than rule results are separate test points at the end.
pub(super) fn render(digest: &Digest) -> Result<String, serde_yaml::Error> {
    let findings = digest.findings();
    let mut out = format!(
        "TAP version 14\n1..{}\n",
        digest.rows.len() + findings.len()
    );
    let target = digest.started.as_ref();
    let target = target.map_or(String::new(), |started| escape(&started.target.title()));
    let _ = writeln!(out, "# conformance of {target}: {}", digest.score_text());
    let mut numbers = 1..;
    // Writing to a string cannot fail, hence `let _ =`.
    for (row, number) in digest.rows.iter().zip(&mut numbers) {
        let (ok, directive) = state(row);
        let rule = escape(&row.judged.rule);
        let _ = writeln!(out, "{ok} {number} - {rule}{directive}");
        if let Some(diagnostic) = diagnostic(row) {
            out.push_str(&block(&diagnostic)?);
        }
    }
    for ((kind, what), number) in findings.into_iter().zip(&mut numbers) {
        let _ = writeln!(out, "not ok {number} - run: {kind}");
        out.push_str(&block(&Diagnostic {
            message: what,
            severity: kind,
            ..Diagnostic::default()
        })?);
    }
    Ok(out)
}

/// Returns the start of a test point, and its directive: `TODO` for a known deviation, `SKIP` for
/// an unproven rule, so that it does not count as a success.
fn state(row: &Row) -> (&'static str, String) {
    let known = || escape(row.known.as_deref().unwrap_or_default().trim());
    match (&row.judged.verdict, row.outcome) {
        (Verdict::NotRun(Reason::Unreachable(_) | Reason::Defect), _) => ("not ok", String::new()),
        (_, Outcome::Pass) => ("ok", String::new()),
        (_, Outcome::Fail | Outcome::UnexpectedPass) => ("not ok", String::new()),
        (_, Outcome::ShouldFail) => ("not ok", " # TODO should hold".to_owned()),
        (_, Outcome::ExpectedFail) => ("not ok", format!(" # TODO known deviation: {}", known())),
        (_, Outcome::Flaky) => ("not ok", format!(" # TODO flaky: {}", known())),
        (_, Outcome::Recorded) => ("ok", " # SKIP open clause: recorded, not judged".to_owned()),
        (_, Outcome::NotRun) => {
            let reason = row.reason().unwrap_or_default();
            ("ok", format!(" # SKIP {}", escape(&reason)))
        }
    }
}

fn diagnostic(row: &Row) -> Option<Diagnostic<'_>> {
    let base = Diagnostic {
        severity: row.outcome.name(),
        section: failure::place(row),
        states: &row.judged.states,
        ..Diagnostic::default()
    };
    match &row.judged.verdict {
        Verdict::Fail(failure) => {
            let Failure {
                request,
                differences,
                notes,
                curl,
                ..
            } = failure;
            Some(Diagnostic {
                message: failure::headline(failure),
                request,
                differences,
                notes,
                curl,
                ..base
            })
        }
        Verdict::Pass if row.outcome == Outcome::UnexpectedPass => Some(Diagnostic {
            message: format!(
                "listed as known to fail: {}",
                row.known.as_deref().unwrap_or_default().trim()
            ),
            ..base
        }),
        Verdict::NotRun(reason @ (Reason::Unreachable(_) | Reason::Defect)) => Some(Diagnostic {
            message: reason.to_string(),
            ..base
        }),
        Verdict::Pass | Verdict::Recorded | Verdict::NotRun(_) => None,
    }
}

/// Formats a YAML block in which every line is indented, so that none can be parsed as a test
/// point.
fn block(diagnostic: &Diagnostic<'_>) -> Result<String, serde_yaml::Error> {
    let yaml = serde_yaml::to_string(diagnostic)?;
    let mut block = "  ---\n".to_owned();
    for line in yaml.lines() {
        let _ = writeln!(block, "  {line}");
    }
    block.push_str("  ...\n");
    Ok(block)
}

/// Escapes a string for the line of a test point: one line, and no `#` that would start a
/// directive.
fn escape(text: &str) -> String {
    let one_line: String = text
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    one_line.replace('\\', "\\\\").replace('#', "\\#")
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::report::digest::samples;

    /// Parses a report as a TAP consumer does; returns the test points, each with its YAML.
    fn read(text: &str) -> Vec<(&str, Option<serde_json::Value>)> {
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("TAP version 14"));
        let plan = lines.next().and_then(|line| line.strip_prefix("1.."));
        let plan: usize = plan.and_then(|last| last.parse().ok()).expect("a plan");
        let heading = lines.next().expect("a heading");
        assert!(heading.starts_with("# conformance of "), "{heading}");
        assert!(heading.contains(": proven "), "{heading}");
        let mut points = Vec::new();
        while let Some(line) = lines.next() {
            if line == "  ---" {
                let block = lines.by_ref().take_while(|line| *line != "  ...");
                let yaml: String = block.map(|line| format!("{line}\n")).collect();
                let value = serde_yaml::from_str(&yaml).expect(&yaml);
                points
                    .last_mut()
                    .map(|(_, yaml)| *yaml = Some(value))
                    .expect("a point");
            } else {
                assert!(
                    line.starts_with("ok ") || line.starts_with("not ok "),
                    "{line}"
                );
                points.push((line, None));
            }
        }
        assert_eq!(points.len(), plan, "{text}");
        points
    }

    #[test]
    fn every_outcome_is_a_point_and_every_answer_stays_yaml() {
        let digest = samples::all().pop().expect("a digest");
        let text = render(&digest).expect("a stream");
        let points = read(&text);
        let starts = [
            "ok 1 - engine/health/get/healthy-is-empty-object",
            "not ok 2 - engine/v1/data/get/undefined-omits-result",
            "not ok 3 - engine/v1/config/get/labels # TODO known deviation: reason \\# with a mark",
            "not ok 4 - engine/v1/data/put/creates-a-document",
            "not ok 5 - engine/v1/data/put/replaces-a-document",
            "ok 6 - engine/v1/query/get/answers # SKIP open clause: recorded, not judged",
            "ok 7 - engine/another/edition/of-the-suite # SKIP the target does not claim `query`",
            "not ok 8 - run: defect",
            "not ok 9 - run: leak",
            "not ok 10 - run: unreachable",
        ];
        let lines: Vec<_> = points.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, starts);
        let got = points
            .get(1)
            .and_then(|(_, yaml)| yaml.as_ref()?.pointer("/differences/0/got"));
        assert_eq!(got, Some(&samples::HOSTILE.into()));
        for digest in samples::all() {
            read(&render(&digest).expect("a stream"));
        }
    }
}
