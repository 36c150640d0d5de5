//! Behaviour of each target where the documents are silent.

use maud::{Markup, html};

use super::runs::{Entry, Runs};
use super::text::{prose, truncated, visible};

/// Maximum length of a record in the table, in characters; the clause itself shows all of it.
const SHOWN: usize = 900;

/// Renders a table of the open clauses that some run recorded; empty if there are none.
pub(super) fn behaviour(runs: &Runs<'_>) -> Markup {
    let is_recorded =
        |entry: &&Entry<'_>| entry.is_open() && records(entry).any(|text| !text.is_empty());
    let entries: Vec<_> = runs.entries().filter(is_recorded).collect();
    let subject = if runs.several() {
        "each target"
    } else {
        "the target"
    };
    html! {
        @if !entries.is_empty() {
            section id="behaviour" aria-labelledby="behaviour-title" {
                h2 id="behaviour-title" { "Where the documents are silent" }
                p.lead {
                    "Nothing here is right or wrong: the documents leave "
                    @if entries.len() == 1 { "this point" } @else { "these " (entries.len()) " points" }
                    " open, and this is what " (subject) " does."
                }
                table.behaviour {
                    thead {
                        tr {
                            th scope="col" { "Open point" }
                            @for run in &runs.runs { th scope="col" { (visible(&run.label)) } }
                            @if runs.several() { th scope="col" { "Compared" } }
                        }
                    }
                    tbody { @for entry in entries { (row(runs, entry)) } }
                }
            }
        }
    }
}

fn row(runs: &Runs<'_>, entry: &Entry<'_>) -> Markup {
    let texts: Vec<_> = records(entry).collect();
    let recorded: Vec<_> = texts.iter().filter(|text| !text.is_empty()).collect();
    let compared = match recorded.as_slice() {
        [] | [_] => None,
        [first, others @ ..] => Some(others.iter().all(|other| other == first)),
    };
    html! {
        tr {
            th scope="row" { (prose(entry.states)) a.rule href={ "#" (entry.rule) } { (visible(entry.rule)) } }
            @for (run, text) in runs.runs.iter().zip(&texts) {
                td data-name=(visible(&run.label)) {
                    @if text.is_empty() { span.aside { "Not recorded" } }
                    @else { pre { (truncated(text, SHOWN)) } }
                }
            }
            @if runs.several() {
                td data-name="Compared" {
                    @match compared {
                        None => {}
                        Some(true) => { "Alike" }
                        Some(false) => { strong { "Differ" } }
                    }
                }
            }
        }
    }
}

/// Returns the record of each run for a clause, without prerequisite requests.
fn records(entry: &Entry<'_>) -> impl Iterator<Item = String> {
    entry.rows.iter().map(|row| {
        let text = row.map_or("", |row| row.judged.transcript.as_str());
        let lines = text.lines().filter(|line| !line.starts_with("given "));
        lines.collect::<Vec<_>>().join("\n")
    })
}
