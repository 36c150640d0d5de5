//! The report in Markdown, for the page of a CI job: the score, a table by section, and the
//! failures with what the document says, what was expected, the result and how to repeat it.
//!
//! Everything is escaped: a server's response must not become a heading, a link or HTML.

use std::fmt::Write as _;

use super::failure_groups::{Cause, causes, grouped};
use super::markdown_escape::{code, code_fence, prose};
use super::{Digest, Outcome, Row, concurrency_hint, failure};
use crate::catalogue::{Catalogue, Document, sections};
use crate::http_client::curl::whole;
use crate::judge::verdict::{Failure, Verdict};

/// Maximum size of the report, in bytes. GitHub accepts at most 1 MiB for one step; the rest is for
/// the step's other output.
const MOST: usize = 900 * 1024;
/// Maximum length of one side of a difference, in characters.
const SIDE_SHOWN: usize = 600;
/// Maximum length of a line about one rule of a group, in characters.
const LINE_SHOWN: usize = 200;
/// Maximum length of a command, in characters.
const COMMAND_SHOWN: usize = 6000;

/// The columns of the table by section, in order, each with the outcomes that it counts.
const COLUMNS: [(&str, &[Outcome]); 7] = [
    ("proven", &[Outcome::Pass]),
    ("fail", &[Outcome::Fail, Outcome::UnexpectedPass]),
    ("should hold", &[Outcome::ShouldFail]),
    ("known deviation", &[Outcome::ExpectedFail]),
    ("flaky", &[Outcome::Flaky]),
    ("recorded", &[Outcome::Recorded]),
    ("not run", &[Outcome::NotRun]),
];

// Writing to a string cannot fail, hence `let _ =` below.

pub(super) fn render(digest: &Digest) -> String {
    let mut out = head(digest);
    for (kind, what) in digest.findings() {
        let _ = writeln!(out, "**{}**: {}\n", prose(kind), prose(&what));
    }
    for document in Document::ALL {
        table(&mut out, digest, document);
    }
    let causes = causes(digest);
    for cause in &causes {
        let text = cause_block(cause);
        if out.len() + text.len() < MOST {
            out.push_str(&text);
        }
    }
    // Of equal failures the first is shown in full.
    let firsts: Vec<_> = causes
        .iter()
        .filter_map(|cause| cause.rules.first())
        .collect();
    let with_cause = grouped(&causes);
    let is_shown = |row: &&Row| {
        use Outcome::{ExpectedFail, Fail, ShouldFail, UnexpectedPass};
        let rule = row.judged.rule.as_str();
        matches!(
            row.outcome,
            Fail | ShouldFail | ExpectedFail | UnexpectedPass
        ) && (!with_cause.contains(rule) || firsts.contains(&&rule))
    };
    let mut rows: Vec<_> = digest.rows.iter().filter(is_shown).collect();
    // Failures that decide come first, in case not all fit.
    let is_decisive = |row: &Row| matches!(row.outcome, Outcome::Fail | Outcome::UnexpectedPass);
    rows.sort_by_key(|row| (!is_decisive(row), failure::blocked(row)));
    for (written, row) in rows.iter().enumerate() {
        let block = block(digest, row);
        if out.len() + block.len() > MOST {
            let _ = writeln!(out, "\n… and {} more.", rows.len() - written);
            break;
        }
        out.push_str(&block);
    }
    out
}

fn head(digest: &Digest) -> String {
    let score = digest.score_text();
    let conclusion = digest.sentence();
    let mut out = "# Conformance".to_owned();
    if let Some(started) = &digest.started {
        let _ = write!(out, " of {}", code(&started.target.title()));
    }
    let score = score.replacen("proven", "Proven", 1);
    let _ = writeln!(out, "\n\n**{score}**: {}\n", prose(&conclusion));
    for line in digest.untested() {
        let _ = writeln!(out, "- {}", prose(&line));
    }
    if !digest.untested().is_empty() {
        out.push('\n');
    }
    if let Some(started) = &digest.started {
        let suite = prose(&started.suite);
        let at = started.at.as_deref().map(|at| format!("{}, ", prose(at)));
        let at = at.unwrap_or_default();
        let _ = write!(out, "{at}suite {suite}, seed {}", started.seed);
    }
    if let Some(finished) = &digest.finished {
        let seconds = finished.milliseconds / 1000.0;
        let _ = write!(out, ", {} requests in {seconds:.1} s", finished.requests);
    }
    out.push_str(".\n\n");
    let blocked = failure::blocked_by(digest);
    for line in blocked.into_iter().chain(concurrency_hint::remedy(digest)) {
        let _ = writeln!(out, "{}.\n", prose(&line));
    }
    out
}

fn table(out: &mut String, digest: &Digest, document: Document) {
    let rows: Vec<_> = digest
        .rows
        .iter()
        .filter(|row| row.document == Some(document))
        .collect();
    if rows.is_empty() {
        return;
    }
    let title = Catalogue::embedded().map_or(document.name(), |known| known.title(document));
    let names = COLUMNS.map(|(name, _)| name).join(" | ");
    let _ = writeln!(
        out,
        "| {title} | {names} |\n|---|{}",
        "---:|".repeat(COLUMNS.len())
    );
    let mut line = |name: &str, rows: &[&Row]| {
        let count = |outcomes: &[Outcome]| {
            let matching = rows.iter().filter(|row| outcomes.contains(&row.outcome));
            match matching.count() {
                0 => String::new(),
                count => count.to_string(),
            }
        };
        let counts = COLUMNS.map(|(_, outcomes)| count(outcomes)).join(" | ");
        let _ = writeln!(out, "| {name} | {counts} |");
    };
    for section in sections(document) {
        let of_section = |row: &&&Row| row.judged.section == *section;
        let of_section: Vec<_> = rows.iter().filter(of_section).copied().collect();
        if !of_section.is_empty() {
            line(&prose(section), &of_section);
        }
    }
    line("**all**", &rows);
    out.push('\n');
}

/// Formats a common cause of failures, and its rules.
fn cause_block(cause: &Cause<'_>) -> String {
    let mut out = format!("\n## {}\n\n", prose(&cause.sentence()));
    out.push_str("| rule | request | what differs |\n|---|---|---|\n");
    for row in &cause.rows {
        if let Some(failure) = row.failure() {
            let differs = failure::differs(failure);
            let [rule, request, differs] = [&row.judged.rule, &failure.request, &differs]
                .map(|text| code(&cut(text, LINE_SHOWN)).replace('|', "\\|"));
            let _ = writeln!(out, "| {rule} | {request} | {differs} |");
        }
    }
    out
}

fn block(digest: &Digest, row: &Row) -> String {
    let word = match row.outcome {
        Outcome::ExpectedFail => "known deviation",
        Outcome::ShouldFail => "should hold",
        other => other.name(),
    };
    let mut out = format!("\n## {word}: {}\n\n", code(&row.judged.rule));
    if let Verdict::Fail(failure) = &row.judged.verdict {
        let _ = writeln!(out, "Step {}: {}\n", failure.step, code(&failure.request));
    }
    let (place, states) = (failure::place(row), &row.judged.states);
    let _ = writeln!(out, "> {}\n> ({})\n", prose(states), prose(&place));
    if let Some(known) = &row.known {
        let _ = writeln!(
            out,
            "Listed as a known deviation: {}\n",
            prose(known.trim())
        );
    }
    if let Verdict::Fail(failure) = &row.judged.verdict {
        details(&mut out, failure);
    }
    let command = failure::rerun_command(digest, &row.judged.rule);
    let _ = writeln!(out, "Again: {}", code(&command));
    out
}

fn details(out: &mut String, failure: &Failure) {
    if failure.blocked {
        let _ = writeln!(out, "{}.\n", failure::BLOCKED);
    }
    if !failure.differences.is_empty() {
        out.push_str("| at | expected | got |\n|---|---|---|\n");
    }
    for difference in &failure.differences {
        let [at, expected, got] = [&difference.path, &difference.expected, &difference.got]
            .map(|text| code(&cut(text, SIDE_SHOWN)).replace('|', "\\|"));
        let _ = writeln!(out, "| {at} | {expected} | {got} |");
    }
    for note in &failure.notes {
        let _ = writeln!(out, "\n- {}", prose(&cut(note, SIDE_SHOWN)));
    }
    if !failure.curl.is_empty() {
        let commands: Vec<_> = failure
            .curl
            .iter()
            .map(|one| whole(one, COMMAND_SHOWN))
            .collect();
        let _ = writeln!(out, "\n{}", code_fence(&commands.join("\n")));
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
