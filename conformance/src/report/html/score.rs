//! Scores by run, API and section.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::runs::{CellState, Entry, Run, Runs, Section};
use super::text::{prose, truncated, visible};
use crate::catalogue::{Catalogue, Document, Level};
use crate::judge::verdict::Verdict;
use crate::report::capability::{Score, claimed, score};
use crate::report::failure_groups::causes;
use crate::report::{Conclusion, Outcome, ProfileResult, concurrency_hint, failure};

/// Maximum length of a request in a list, in characters.
const REQUEST_SHOWN: usize = 200;
/// Maximum number of failures in a list.
const FAILURES: usize = 100;
/// Maximum length of a finding, in characters.
const FINDING_SHOWN: usize = 2_000;

/// Number of clauses in each state.
type Counts = BTreeMap<CellState, usize>;

/// Renders one card with the score for each run.
pub(super) fn cards(runs: &Runs<'_>) -> Markup {
    html! {
        section id="score" aria-labelledby="score-title" {
            h2 id="score-title" { "Score" }
            div.columns { @for (index, run) in runs.runs.iter().enumerate() { (card(runs, index, run)) } }
            p.aside {
                "Proven means: the rule was tried and every judged fact was as documented. "
                "Rules that were not run count as not proven; rules that the target does not claim are listed separately. Open clauses are recorded and not counted."
            }
        }
    }
}

fn card(runs: &Runs<'_>, index: usize, run: &Run<'_>) -> Markup {
    let conclusion = run.digest.conclusion();
    let scores = |document: Option<Document>| {
        let rows = || {
            let rows = run.digest.rows.iter();
            rows.filter(move |row| document.is_none() || row.document == document)
        };
        (claimed(run.digest, rows()), score(rows()))
    };
    let (proven, all) = scores(None);
    let standing = run.digest.standing();
    let profile = standing
        .as_ref()
        .map(ProfileResult::title)
        .unwrap_or_default();
    let is_conformant = matches!(conclusion, Conclusion::Conformant);
    html! {
        article.column.card aria-label=(visible(&run.label)) {
            @if runs.several() { h3 { (visible(&run.label)) } }
            @if let Some(ProfileResult { must, should, .. }) = &standing {
                p.proven {
                    strong { (must.proven) } " of " (must.rules) " of " (profile)
                    span.percent { (percent(must.proven, must.rules)) }
                }
                @if should.rules > 0 { p.aside { (should.proven) " of " (should.rules) " that should hold" } }
            } @else {
                p.proven {
                    strong { (proven.proven) } " of " (proven.rules) (rules(proven, all)) " proven"
                    span.percent { (percent(proven.proven, proven.rules)) }
                }
                @if proven.rules != all.rules { p.aside { (all.rules) " rules in all" } }
            }
            p.conclusion.good[is_conformant].bad[!is_conformant] { (run.digest.sentence()) }
            @for line in run.digest.untested() { p.aside { (prose(&line)) "." } }
            @for document in Document::ALL {
                @let counts = counts(runs.entries().filter(|entry| is_of_document(entry, document)), index);
                @if counts.keys().any(|mark| matches!(mark, CellState::Judged(_))) {
                    @let (proven, all) = scores(Some(document));
                    @if runs.several() { h4 { (title(document)) } } @else { h3.of { (title(document)) } }
                    p {
                        (proven.proven) " of " (proven.rules) (rules(proven, all)) " proven"
                        @if proven.rules != all.rules { ", " (all.rules) " in all" }
                    }
                    (bar(&counts))
                    ul.legend {
                        @for (mark, count) in order(&counts) {
                            li { span.swatch.(mark.name()) {} (count) " " (mark.words().to_lowercase()) }
                        }
                    }
                    (reasons(run, document))
                }
            }
        }
    }
}

/// Returns the label of the score: all rules, or only those that the target claims.
fn rules(claimed: Score, all: Score) -> &'static str {
    match claimed.rules == all.rules {
        true => " rules",
        false => " claimed rules",
    }
}

fn reasons(run: &Run<'_>, document: Document) -> Markup {
    let reasons = run.digest.reasons(document);
    html! {
        @if !reasons.is_empty() {
            details.reasons {
                summary { "Why some were not run" }
                ul { @for (reason, count) in reasons { li { (count) ": " (truncated(&reason, FINDING_SHOWN)) } } }
            }
        }
    }
}

/// Renders the findings other than rule results, and the list of failures.
pub(super) fn other_findings(runs: &Runs<'_>) -> Markup {
    let findings: Vec<_> = runs
        .runs
        .iter()
        .flat_map(|run| {
            run.digest
                .findings()
                .into_iter()
                .map(move |finding| (run, finding))
        })
        .collect();
    html! {
        @if !findings.is_empty() {
            section id="findings" aria-labelledby="findings-title" {
                h2 id="findings-title" { "Beside the rules" }
                ul {
                    @for (run, (kind, text)) in findings {
                        li {
                            @if runs.several() { (visible(&run.label)) ", " }
                            b { (kind) } ": " (truncated(&text, FINDING_SHOWN))
                        }
                    }
                }
            }
        }
        (failures(runs))
    }
}

fn failures(runs: &Runs<'_>) -> Markup {
    let broken = is_broken;
    let causes: Vec<_> = runs
        .runs
        .iter()
        .flat_map(|run| {
            causes(run.digest)
                .into_iter()
                .map(move |cause| (run, cause))
        })
        .collect();
    let mut failing: Vec<_> = runs
        .entries()
        .filter(|entry| entry.marks().any(|mark| broken(&mark)))
        .collect();
    // Failed rules precede those that they blocked.
    failing.sort_by_key(|entry| {
        let mut rows = entry.rows.iter().flatten();
        !rows.any(|row| broken(&CellState::Judged(row.outcome)) && !failure::blocked(row))
    });
    let grouped = |entry: &&&Entry<'_>| {
        let mut causes = causes.iter();
        causes.any(|(_, cause)| cause.rules.contains(&entry.rule))
    };
    let ungrouped: Vec<_> = failing
        .iter()
        .filter(|entry| !grouped(entry))
        .copied()
        .collect();
    html! {
        @if !failing.is_empty() {
            section id="failures" aria-labelledby="failures-title" {
                h2 id="failures-title" { "What fails" span.count { (failing.len()) } }
                @for run in &runs.runs {
                    @for line in failure::blocked_by(run.digest).into_iter().chain(concurrency_hint::remedy(run.digest)) {
                        p.aside { @if runs.several() { b { (visible(&run.label)) } ": " } (prose(&line)) "." }
                    }
                }
                @for (run, cause) in &causes {
                    h3.cause {
                        @if runs.several() { (visible(&run.label)) ": " }
                        (prose(&cause.sentence()))
                    }
                    (list(runs, &failing, |entry| cause.rules.contains(&entry.rule)))
                }
                @if !causes.is_empty() && !ungrouped.is_empty() { h3.cause { "Others" } }
                (list(runs, &ungrouped, |_| true))
            }
        }
    }
}

/// Renders a list of the failing rules that satisfy `filter`: method and path, the clause, and the
/// difference.
fn list(runs: &Runs<'_>, failing: &[&Entry<'_>], filter: impl Fn(&Entry<'_>) -> bool) -> Markup {
    let entries: Vec<_> = failing.iter().filter(|entry| filter(entry)).collect();
    html! {
        @if !entries.is_empty() {
            ol.failures {
                @for entry in entries.iter().take(FAILURES) {
                    li {
                        @if let Some(failure) = entry.rows.iter().flatten().find_map(|row| row.any_failure()) {
                            code.request { (truncated(&failure.request, REQUEST_SHOWN)) }
                        }
                        a href={ "#" (entry.rule) } { (prose(entry.states)) }
                        @for ((run, row), mark) in runs.runs.iter().zip(&entry.rows).zip(entry.marks()) {
                            @if let (true, Some(row)) = (is_broken(&mark), row) {
                                span.headline {
                                    @if runs.several() { b { (visible(&run.label)) } ": " }
                                    @match &row.judged.verdict {
                                        Verdict::Fail(failure) => (truncated(&failure::differs(failure), 240)),
                                        _ => "passes, though it is listed as known to fail",
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if entries.len() > FAILURES {
                p.aside { "And " (entries.len() - FAILURES) " more, among all clauses below." }
            }
        }
    }
}

fn is_broken(mark: &CellState) -> bool {
    matches!(
        mark,
        CellState::Judged(Outcome::Fail | Outcome::UnexpectedPass)
    )
}

/// Renders the table of scores by section, with links to the clauses.
pub(super) fn sections(runs: &Runs<'_>) -> Markup {
    html! {
        section id="sections" aria-labelledby="sections-title" {
            h2 id="sections-title" { "By section" }
            table.sections.several[runs.several()] {
                thead {
                    tr {
                        th scope="col" { "Section" }
                        @for run in &runs.runs {
                            th scope="col" { @if runs.several() { (visible(&run.label)) } @else { "Proven" } }
                        }
                        @if !runs.several() { th scope="col" { "Verdicts" } }
                    }
                }
                @for document in [Some(Document::Control), Some(Document::Engine), None] {
                    @let in_document: Vec<_> = runs.sections.iter().filter(|section| section.document == document).collect();
                    @if !in_document.is_empty() {
                        tbody {
                            tr.document { th scope="rowgroup" colspan=(runs.runs.len() + 2) { (document.map_or("Clauses that this suite does not know", title)) } }
                            @for section in in_document { (section_row(runs, section)) }
                        }
                    }
                }
            }
        }
    }
}

fn section_row(runs: &Runs<'_>, section: &Section<'_>) -> Markup {
    html! {
        tr {
            th scope="row" { a href={ "#" (section.anchor) } { (name(section)) } }
            @for (index, run) in runs.runs.iter().enumerate() {
                @let (proven, rules) = proven_of(section.clauses.iter(), index);
                @let counts = counts(section.clauses.iter(), index);
                td data-name=(visible(&run.label)) {
                    @if rules > 0 { span.fraction { (proven) " of " (rules) } (bar(&counts)) }
                    @else { span.aside { "no rules" } }
                }
            }
            @if !runs.several() { td.words data-name="Verdicts" { (words(&counts(section.clauses.iter(), 0))) } }
        }
    }
}

/// Returns the section's name for readers.
pub(super) fn name<'a>(section: &Section<'a>) -> &'a str {
    if section.name.is_empty() {
        "Unknown section"
    } else {
        section.name
    }
}

pub(super) fn title(document: Document) -> &'static str {
    Catalogue::embedded().map_or(document.name(), |known| known.title(document))
}

fn is_of_document(entry: &Entry<'_>, document: Document) -> bool {
    Document::of(entry.rule) == Some(document)
}

pub(super) fn counts<'a>(entries: impl Iterator<Item = &'a Entry<'a>>, run: usize) -> Counts {
    let mut counts = Counts::new();
    for entry in entries {
        if let Some(mark) = entry.marks().nth(run)
            && mark != CellState::NotChosen
        {
            *counts.entry(mark).or_default() += 1;
        }
    }
    counts
}

/// Numbers of proven and of all rules among these clauses, in one run.
fn proven_of<'a>(entries: impl Iterator<Item = &'a Entry<'a>>, run: usize) -> (usize, usize) {
    let rows = entries.filter_map(|entry| *entry.rows.get(run)?);
    let rules: Vec<_> = rows.filter(|row| row.judged.level == Level::Rule).collect();
    let passed = rules.iter().filter(|row| row.is_proven());
    (passed.count(), rules.len())
}

fn order(counts: &Counts) -> impl Iterator<Item = (CellState, usize)> {
    CellState::ALL
        .into_iter()
        .filter_map(|mark| Some((mark, *counts.get(&mark)?)))
}

pub(super) fn words(counts: &Counts) -> String {
    let words =
        order(counts).map(|(mark, count)| format!("{count} {}", mark.words().to_lowercase()));
    words.collect::<Vec<_>>().join(", ")
}

/// Renders a bar of the numbers of clauses by state; the words next to it say the same.
pub(super) fn bar(counts: &Counts) -> Markup {
    let judged = counts
        .iter()
        .filter(|(mark, _)| matches!(mark, CellState::Judged(_)));
    let total: usize = judged.map(|(_, count)| count).sum();
    // Per mille: the widths are whole numbers and the gaps too small to be seen.
    let width = |count: usize| (count * 1000).checked_div(total).unwrap_or_default();
    let drawn = [
        CellState::Judged(Outcome::Pass),
        CellState::Judged(Outcome::Recorded),
        CellState::Judged(Outcome::ShouldFail),
        CellState::Judged(Outcome::ExpectedFail),
        CellState::Judged(Outcome::Flaky),
        CellState::Judged(Outcome::Fail),
        CellState::Judged(Outcome::UnexpectedPass),
        CellState::Judged(Outcome::NotRun),
    ];
    let mut at = 0;
    let parts: Vec<_> = drawn
        .into_iter()
        .filter_map(|mark| {
            let segment_width = width(*counts.get(&mark)?);
            at += segment_width;
            Some((mark, at - segment_width, segment_width))
        })
        .collect();
    html! {
        svg.bar viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
            @for (mark, from, segment_width) in parts { rect.(mark.name()) x=(from) width=(segment_width) height="10" {} }
        }
    }
}

/// Formats a fraction in whole percent, rounded down.
fn percent(part: usize, all: usize) -> String {
    (part * 100)
        .checked_div(all)
        .map_or_else(String::new, |share| format!("{share} %"))
}
