//! A failure as text: the clause, the step, the differences, and how to see it again.

use super::{Digest, Outcome, Row};
use crate::catalogue::Catalogue;
use crate::evidence::RunStarted;
use crate::verdict::{Difference, Failure, Verdict};

/// What it means that a request failed which is not the rule's own.
pub(super) const BLOCKED: &str =
    "blocked: this request only sets the scene, the rule itself was not looked at";

/// The lines of a failure, without the rule's id.
pub(super) fn lines(digest: &Digest, row: &Row, failure: &Failure) -> Vec<String> {
    let mut lines = vec![clause(row)];
    if !failure.request.is_empty() {
        lines.push(format!("step {}: {}", failure.step, failure.request));
    }
    if failure.blocked {
        lines.push(BLOCKED.to_owned());
    }
    for difference in &failure.differences {
        lines.extend(difference_lines(difference));
    }
    lines.extend(failure.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(failure.curl.iter().cloned());
    let command = again(digest.started.as_ref(), &row.judged.rule);
    lines.push(format!("again: {command}"));
    lines
}

/// What there is to say of a blocked rule where the lines of what blocks it stand already.
pub(super) fn short(digest: &Digest, row: &Row, failure: &Failure) -> Vec<String> {
    let command = again(digest.started.as_ref(), &row.judged.rule);
    vec![clause(row), headline(failure), format!("again: {command}")]
}

/// Whether something that the rule builds on failed, so that it was not looked at itself.
pub(super) fn blocked(row: &Row) -> bool {
    matches!(&row.judged.verdict, Verdict::Fail(failure) if failure.blocked)
}

/// How many of the failing rules were not looked at themselves, if any.
pub(super) fn blocked_count(digest: &Digest) -> Option<String> {
    let rows = digest.rows.iter();
    let fail = |row: &&Row| row.outcome == Outcome::Fail && blocked(row);
    let count = rows.filter(fail).count();
    let blocked = match count {
        0 => return None,
        1 => "1 failing rule is blocked: what only sets its".to_owned(),
        _ => format!("{count} failing rules are blocked: what only sets their"),
    };
    Some(format!("{blocked} scene failed first"))
}

/// The first difference in one line, for reports with room for no more.
pub(super) fn headline(failure: &Failure) -> String {
    if let (true, Some(note)) = (failure.blocked, failure.notes.first()) {
        let Failure { step, request, .. } = failure;
        return format!("blocked at step {step}, {request}: {note}");
    }
    match (failure.differences.first(), failure.notes.first()) {
        (
            Some(Difference {
                path,
                expected,
                got,
            }),
            _,
        ) => {
            format!(
                "step {}: {path}: expected {expected} | got {got}",
                failure.step
            )
        }
        (None, Some(note)) => format!("step {}: {note}", failure.step),
        (None, None) => format!("step {}", failure.step),
    }
}

fn clause(row: &Row) -> String {
    format!("{}: {}", place(row), row.judged.states)
}

/// The document and the section that state the clause.
pub(super) fn place(row: &Row) -> String {
    let title = match (row.document, Catalogue::embedded()) {
        (Some(document), Ok(catalogue)) => catalogue.title(document),
        _ => "",
    };
    format!("{title}, {}", row.judged.section)
}

/// One line where both sides are short, else one for each.
fn difference_lines(difference: &Difference) -> Vec<String> {
    let Difference {
        path,
        expected,
        got,
    } = difference;
    if expected.len() + got.len() <= 100 && !expected.contains('\n') && !got.contains('\n') {
        return vec![format!("  {path}: expected {expected} | got {got}")];
    }
    let indented = |text: &str| text.replace('\n', "\n      ");
    vec![
        format!("  {path}:"),
        format!("    expected {}", indented(expected)),
        format!("    got      {}", indented(got)),
    ]
}

/// The command that runs the rule again on the same target.
pub(super) fn again(started: Option<&RunStarted>, rule: &str) -> String {
    let mut command = "conformance run".to_owned();
    if let Some(RunStarted { target, .. }) = started {
        if target.name == "custom" {
            for (flag, url) in [("control", &target.control), ("engine", &target.engine)] {
                if let Some(url) = url {
                    command.push_str(&format!(" --{flag}-url {url}"));
                }
            }
        } else if target.name != "reference" {
            command.push_str(&format!(" --target {}", target.name));
        }
    }
    format!("{command} {rule}")
}
