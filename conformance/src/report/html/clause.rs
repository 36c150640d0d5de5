//! One clause with its results in all runs of a page.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::exchange::{commands, exchanges};
use super::runs::{CellState, Entry, Run, Runs};
use super::text::{highlight, prose, truncated, visible};
use crate::catalogue::{Binding, Catalogue};
use crate::judge::verdict::{Difference, Failure, Verdict};
use crate::report::{Digest, Row, failure};

/// Maximum length of a note or reason, in characters.
const NOTE_SHOWN: usize = 4_000;
/// Maximum length of a transcript, in characters.
const TRANSCRIPT_SHOWN: usize = 6_000;

/// Renders the clause as an expandable entry.
pub(super) fn clause(runs: &Runs<'_>, entry: &Entry<'_>) -> Markup {
    let mut names: Vec<_> = entry.marks().map(CellState::name).collect();
    names.dedup();
    let chosen = names
        .iter()
        .filter(|name| **name != CellState::NotChosen.name());
    let differs = chosen.collect::<BTreeSet<_>>().len() > 1;
    html! {
        details.clause id=(entry.rule) data-marks=(names.join(" ")) data-differs[differs] {
            summary {
                span.marks {
                    @for (run, mark) in runs.runs.iter().zip(entry.marks()) {
                        @let target = runs.several().then_some(run.label.as_str());
                        (verdict(mark, target))
                    }
                }
                span.says {
                    (prose(entry.states))
                    code.rule { (visible(entry.rule)) }
                }
            }
            div.opened {
                (source(entry))
                div.columns {
                    @for ((run, row), mark) in runs.runs.iter().zip(&entry.rows).zip(entry.marks()) {
                        section.column {
                            @if runs.several() { h4 { (visible(&run.label)) ": " (mark.words()) } }
                            (judged(run, *row, entry, mark))
                        }
                    }
                }
            }
        }
    }
}

/// Renders a verdict in words; includes the target's name for readers who cannot see the column.
pub(super) fn verdict(mark: CellState, target: Option<&str>) -> Markup {
    html! {
        span.mark.(mark.name()) {
            @if let Some(target) = target { span.target { (visible(target)) ": " } }
            (mark.words())
        }
    }
}

/// Renders the statement of the clause, and its place in the document.
fn source(entry: &Entry<'_>) -> Markup {
    let title = |document| Catalogue::embedded().map_or("", |known| known.title(document));
    html! {
        h4 { "The rule and its source" }
        blockquote { p { (prose(entry.states)) } }
        @if let Some(clause) = entry.clause {
            p.source {
                (title(clause.document)) ", " cite { (clause.section) }
                @if let Some(endpoint) = &clause.endpoint { ", " code { (endpoint) } }
                @if let Some(topic) = &clause.topic { ", " (topic) }
                ". Capability " code { (clause.capability) } "."
            }
        }
        @if entry.is_open() {
            p.aside { "The documents leave this open: the behaviour is recorded and never judged." }
        }
    }
}

/// Renders the result of one run for a clause.
fn judged(run: &Run<'_>, row: Option<&Row>, entry: &Entry<'_>, mark: CellState) -> Markup {
    let reason = entry.clause.and_then(|clause| clause.reason.as_deref());
    let Some(row) = row else {
        return html! {
            @match (mark, reason) {
                (CellState::Unobservable, Some(reason)) => p { "HTTP cannot show it: " (reason) },
                (CellState::Unobservable, None) => p { "HTTP cannot show it." },
                _ => p { "This run did not choose the rule." },
            }
        };
    };
    let none = Vec::new();
    let sent = run.digest.exchanges.get(&row.judged.rule).unwrap_or(&none);
    html! {
        @if let Some(why) = row.reason() {
            p { b { "Not run: " } (truncated(&why, NOTE_SHOWN)) "." }
            @if let Some(reason) = reason { p { (reason) } }
        }
        @if let Some(binding) = row.binding {
            @let explanation = match binding {
                Binding::Must => "The profile says that it must hold.",
                Binding::Should => "The profile says that it should hold: it decides nothing.",
            };
            p.aside { (explanation) }
        }
        @if let Some(known) = &row.known {
            p.known { b { "Listed as a known deviation: " } (truncated(known.trim(), NOTE_SHOWN)) }
        }
        @if let Verdict::Fail(failure) = &row.judged.verdict {
            (failed(run.digest, row, failure))
            (exchanges(sent, Some(failure.step)))
        } @else {
            (exchanges(sent, None))
        }
        @if !row.judged.transcript.is_empty() {
            details.transcript {
                summary { "Transcript: what was compared" }
                pre { (truncated(&row.judged.transcript, TRANSCRIPT_SHOWN)) }
            }
        }
    }
}

fn failed(digest: &Digest, row: &Row, failure: &Failure) -> Markup {
    html! {
        h5 { "What differs" }
        p { "At step " (failure.step) ": " code { (truncated(&failure.request, NOTE_SHOWN)) } }
        @if failure.blocked { p { (failure::BLOCKED) "." } }
        @if !failure.differences.is_empty() {
            table.differences {
                thead { tr { th scope="col" { "At" } th scope="col" { "Expected" } th scope="col" { "Got" } } }
                tbody { @for one in &failure.differences { (difference(one)) } }
            }
        }
        @if !failure.notes.is_empty() {
            ul { @for note in &failure.notes { li { (truncated(note, NOTE_SHOWN)) } } }
        }
        h5 { "By hand" }
        (commands(failure.curl.iter().cloned()))
        p.aside { "Again by the suite: " code { (visible(&failure::rerun_command(digest, &row.judged.rule))) } }
    }
}

fn difference(one: &Difference) -> Markup {
    let (expected, got) = highlight(&one.expected, &one.got);
    html! {
        tr {
            th scope="row" { code { (visible(&one.path)) } }
            td data-name="Expected" { code.expected { (expected) } }
            td data-name="Got" { code.got { (got) } }
        }
    }
}
