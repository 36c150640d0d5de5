//! Terminal report: progress, failures, the summary of each document and the score.

use std::fmt::Write as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::failure_groups::{Cause, causes, grouped};
use super::{Conclusion, Digest, Outcome, Row, concurrency_hint, failure};
use crate::catalogue::{Catalogue, Document};
use crate::evidence::Event;
use crate::judge::verdict::Verdict;
use crate::report::capability;
use crate::visible::{coloured, visible};

/// Maximum number of rules listed below their common cause.
const RULES_SHOWN: usize = 12;
/// Maximum number of rules outside the common causes that are named at the end.
const OTHERS_SHOWN: usize = 3;
/// Maximum number of common causes that are repeated at the end.
const CAUSES_SHOWN: usize = 5;

/// Colours strings for a terminal, if enabled.
#[derive(Debug, Clone, Copy)]
pub struct Paint(
    /// Whether colours are enabled.
    pub bool,
);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    fn outcome(self, outcome: Outcome, text: &str) -> String {
        match outcome {
            Outcome::Pass => self.with("32", text),
            Outcome::Fail | Outcome::UnexpectedPass => self.with("1;31", text),
            Outcome::ShouldFail | Outcome::ExpectedFail | Outcome::Flaky => self.with("33", text),
            Outcome::Recorded => self.with("36", text),
            Outcome::NotRun => self.with("2", text),
        }
    }
}

/// Progress bar of a run.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Creates a progress bar on the terminal's error stream.
    pub fn bar() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len}  {wide_msg}");
        Self(style.map_or(bar.clone(), |style| bar.with_style(style)))
    }

    /// Updates the bar by an event of the run.
    pub fn show(&self, event: &Event) {
        match event {
            Event::RunStarted(started) => self.0.set_length(started.chosen.len() as u64),
            Event::Judged(judged) => {
                self.0.inc(1);
                if !matches!(judged.verdict, Verdict::NotRun(_)) {
                    self.0.set_message(judged.rule.clone());
                }
            }
            Event::RunFinished(_) => self.0.finish_and_clear(),
            Event::Exchange(_) | Event::Leaked(_) | Event::Changed(_) | Event::Defect(_) => {}
        }
    }
}

/// Formats the line for one verdict.
pub fn verdict_line(row: &Row, paint: Paint) -> String {
    let name = format!("{:15}", row.outcome.name());
    format!("{} {}", paint.outcome(row.outcome, &name), row.judged.rule)
}

/// Renders the whole report of a finished run.
pub(super) fn render(digest: &Digest, paint: Paint) -> String {
    let mut out = String::new();
    for line in digest.untested() {
        let _ = writeln!(out, "{}", paint.with("33", &line));
    }
    let causes = causes(digest);
    for cause in &causes {
        cause_block(&mut out, digest, cause, paint);
    }
    let grouped_rules = grouped(&causes);
    // Failed rules precede those that they blocked, and those that decide are near the end, where
    // they are seen first.
    let (blocked, mut others): (Vec<_>, Vec<_>) = digest
        .rows
        .iter()
        .filter(|row| !grouped_rules.contains(row.judged.rule.as_str()))
        .partition(|row| failure::blocked(row));
    others.sort_by_key(|row| row.outcome != Outcome::ShouldFail);
    for row in others.into_iter().chain(blocked) {
        failure_block(&mut out, digest, row, paint);
    }
    for defect in &digest.defects {
        let _ = writeln!(
            out,
            "\nthe suite's own fault in {}: {}",
            defect.rule, defect.what
        );
    }
    if !digest.leaked.is_empty() {
        let _ = writeln!(
            out,
            "\nleft behind on the target:\n  {}",
            visible(&digest.leaked.join("\n  "))
        );
    }
    for (title, what) in [
        ("no longer as it was on the target", &digest.changed),
        ("not read to the end on the target", &digest.not_compared),
        ("out of date", &digest.stale),
    ] {
        if !what.is_empty() {
            let _ = writeln!(out, "\n{title}:\n  {}", what.join("\n  "));
        }
    }
    if !digest.is_unasked() {
        for document in Document::ALL {
            document_block(&mut out, digest, document, paint);
        }
    }
    conclusion_block(&mut out, digest, &causes, paint);
    coloured(&out)
}

// Writing to a string cannot fail, hence `let _ =` below.

/// Appends a common cause: a line for all its rules, a line for each, and the first failure in
/// full.
fn cause_block(out: &mut String, digest: &Digest, cause: &Cause<'_>, paint: Paint) {
    let sentence = visible(&cause.sentence());
    let _ = writeln!(out, "\n{}", paint.outcome(Outcome::Fail, &sentence));
    for row in cause.rows.iter().take(RULES_SHOWN) {
        if let Some(failure) = row.failure() {
            let (rule, differs) = (&row.judged.rule, failure::differs(failure));
            let line = visible(&format!("{rule}  {}  {differs}", failure.request));
            let _ = writeln!(out, "  {}", line.replace('\n', " "));
        }
    }
    if let Some(more @ 1..) = cause.rows.len().checked_sub(RULES_SHOWN) {
        let _ = writeln!(out, "  … and {more} more");
    }
    if let Some(first) = cause.rows.iter().find(|row| !failure::blocked(row)) {
        failure_block(out, digest, first, paint);
    } else if let Some(first) = cause.rows.first() {
        failure_block(out, digest, first, paint);
    }
}

fn failure_block(out: &mut String, digest: &Digest, row: &Row, paint: Paint) {
    let title = |word: &str| paint.outcome(row.outcome, word);
    match (&row.judged.verdict, row.outcome) {
        (Verdict::Fail(failure), Outcome::Fail | Outcome::ShouldFail) => {
            let word = match row.outcome {
                Outcome::ShouldFail => "SHOULD HOLD",
                _ => "FAIL",
            };
            let _ = writeln!(out, "\n{} {}", title(word), row.judged.rule);
            let lines = match failure.blocked {
                true => failure::format_blocked(digest, row, failure),
                false => failure::lines(digest, row, failure),
            };
            for line in lines {
                let _ = writeln!(out, "  {}", visible(&line).replace('\n', "\n  "));
            }
        }
        (Verdict::Fail(failure), _) => {
            let reason = row.known.as_deref().unwrap_or_default().trim();
            let word = match row.outcome {
                Outcome::Flaky => "flaky, failed this time",
                _ => "expected to fail",
            };
            let _ = writeln!(out, "\n{} {}", title(word), row.judged.rule);
            let headline = visible(&failure::headline(failure));
            let _ = writeln!(out, "  {reason}\n  {headline}");
        }
        (_, Outcome::UnexpectedPass) => {
            let reason = row.known.as_deref().unwrap_or_default().trim();
            let _ = writeln!(
                out,
                "\n{} {}",
                title("PASSES UNEXPECTEDLY"),
                row.judged.rule
            );
            let _ = writeln!(out, "  listed as known to fail: {reason}");
            let _ = writeln!(
                out,
                "  take it off the list: {}",
                failure::update(digest, row)
            );
        }
        _ => {}
    }
}

fn document_block(out: &mut String, digest: &Digest, document: Document, paint: Paint) {
    let outcomes = digest.outcomes(document);
    if outcomes.is_empty() {
        return;
    }
    let title = Catalogue::embedded().map_or(document.name(), |known| known.title(document));
    let counts: Vec<_> = outcomes
        .iter()
        .map(|(outcome, count)| paint.outcome(*outcome, &format!("{count} {}", outcome.name())))
        .collect();
    let _ = writeln!(out, "\n{title}: {}", counts.join(", "));
    for (reason, count) in digest.reasons(document) {
        let _ = writeln!(out, "  {count:4} not run: {reason}");
    }
    for line in capability::lines(digest, document) {
        let _ = writeln!(out, "  {line}");
    }
}

/// Appends the failing rules that have none of the common causes named at the end.
fn other_failures(out: &mut String, digest: &Digest, causes: &[Cause<'_>]) {
    let named = grouped(causes.get(..CAUSES_SHOWN).unwrap_or(causes));
    let failed = digest
        .rows
        .iter()
        .filter(|row| row.outcome == Outcome::Fail);
    let others = failed.map(|row| row.judged.rule.as_str());
    let others: Vec<&str> = others.filter(|rule| !named.contains(rule)).collect();
    let listed = others.get(..OTHERS_SHOWN).unwrap_or(&others).join(", ");
    let qualifier = if named.is_empty() { "" } else { "other " };
    let _ = match others.len() {
        0 => Ok(()),
        1 => writeln!(out, "1 {qualifier}rule is broken: {listed}"),
        count @ ..=OTHERS_SHOWN => writeln!(out, "{count} {qualifier}rules are broken: {listed}"),
        count => writeln!(out, "{count} {qualifier}rules are broken: {listed}, …"),
    };
}

fn conclusion_block(out: &mut String, digest: &Digest, causes: &[Cause<'_>], paint: Paint) {
    let conclusion = digest.conclusion();
    if let Some(started) = &digest.started {
        let target = started.target.title();
        let _ = write!(out, "\n{target}, seed {}", started.seed);
    }
    if let Some(finished) = &digest.finished {
        let seconds = finished.milliseconds / 1000.0;
        let _ = writeln!(out, ", {} requests in {seconds:.1} s", finished.requests);
        if let Some(reason) = &finished.unreachable {
            let _ = writeln!(out, "{reason}");
        }
    }
    let stability = digest.stability.iter();
    for line in stability.flat_map(|stability| stability.lines()) {
        let _ = writeln!(out, "{line}");
    }
    let unasked = digest.is_unasked();
    if !unasked {
        let _ = writeln!(out, "{}", digest.score_text());
    }
    match digest.beyond_an_address() {
        0 => {}
        _ if unasked => {}
        beyond => {
            let _ = writeln!(
                out,
                "{beyond} more need setups, tokens or servers of their own, which an address does not give; they do not count against it"
            );
        }
    }
    // The end of a long report is seen first.
    for cause in causes.iter().take(CAUSES_SHOWN) {
        let _ = writeln!(out, "{}", visible(&cause.sentence()));
    }
    other_failures(out, digest, causes);
    if let Some(blocked) = failure::blocked_by(digest) {
        let _ = writeln!(out, "{blocked}");
    }
    if let Some(remedy) = concurrency_hint::remedy(digest) {
        let _ = writeln!(out, "{remedy}");
    }
    for line in digest.untested() {
        let _ = writeln!(out, "{line}");
    }
    let colour = match conclusion {
        Conclusion::Conformant => "32",
        Conclusion::Partial | Conclusion::Incomplete | Conclusion::Interrupted => "33",
        _ => "1;31",
    };
    let _ = writeln!(out, "{}", paint.with(colour, &digest.sentence()));
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::judge::verdict::{Answered, Failure};
    use crate::report::digest::samples;

    #[rstest]
    // The status of each rule's response; three equal ones form a group.
    #[case::none(&[], None)]
    #[case::one(&[500], Some("1 rule is broken: engine/a/0"))]
    #[case::two(&[500, 501], Some("2 rules are broken: engine/a/0, engine/a/1"))]
    #[case::four(
        &[500, 501, 502, 503],
        Some("4 rules are broken: engine/a/0, engine/a/1, engine/a/2, …")
    )]
    #[case::group(&[500, 500, 500], None)]
    #[case::group_and_one(&[500, 500, 500, 501], Some("1 other rule is broken: engine/a/3"))]
    #[case::group_and_two(
        &[500, 500, 500, 501, 502],
        Some("2 other rules are broken: engine/a/3, engine/a/4")
    )]
    #[case::group_and_four(
        &[500, 500, 500, 501, 502, 503, 504],
        Some("4 other rules are broken: engine/a/3, engine/a/4, engine/a/5, …")
    )]
    fn rules_without_a_common_cause_are_named_at_the_end(
        #[case] statuses: &[u16],
        #[case] expected: Option<&str>,
    ) {
        let ids: Vec<String> = (0..statuses.len())
            .map(|one| format!("engine/a/{one}"))
            .collect();
        let failure = |status: u16| Failure {
            request: "GET /v1/data".to_owned(),
            answered: Some(Answered {
                status,
                message: String::new(),
            }),
            ..Failure::default()
        };
        let verdicts = ids.iter().zip(statuses);
        let verdicts = verdicts.map(|(id, status)| (id.as_str(), Verdict::Fail(failure(*status))));
        let digest = samples::judged(verdicts);
        let mut out = String::new();
        other_failures(&mut out, &digest, &causes(&digest));
        assert_eq!(out.strip_suffix('\n'), expected);
    }
}
