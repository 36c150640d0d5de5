//! Form that filters the clauses, hidden without JavaScript.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::runs::{CellState, Runs};
use super::score::{name, title};

/// Renders the filter form, and the line with the number of shown clauses.
pub(super) fn filter(runs: &Runs<'_>) -> Markup {
    let mut counts: BTreeMap<CellState, usize> = BTreeMap::new();
    for entry in runs.entries() {
        let mut marks: Vec<_> = entry.marks().collect();
        marks.sort_unstable();
        marks.dedup();
        for mark in marks {
            *counts.entry(mark).or_default() += 1;
        }
    }
    let all = runs.entries().count();
    html! {
        form.filter id="filter" role="search" hidden {
            div.field {
                label for="filter-text" { "Search" }
                input id="filter-text" type="search" autocomplete="off" spellcheck="false" placeholder="Words of a clause, an id, a path";
            }
            div.field {
                label for="filter-section" { "Section" }
                select id="filter-section" {
                    option value="" { "All sections" }
                    @for section in &runs.sections {
                        option value=(section.anchor) {
                            @if let Some(document) = section.document { (title(document)) " / " }
                            (name(section))
                        }
                    }
                }
            }
            fieldset {
                legend { "Verdict" }
                @for mark in CellState::ALL {
                    @if let Some(count) = counts.get(&mark) {
                        label.chip {
                            input type="checkbox" name="mark" value=(mark.name());
                            span { (mark.words()) " " b { (count) } }
                        }
                    }
                }
                @if runs.several() {
                    label.chip {
                        input type="checkbox" name="differs";
                        span { "Targets differ" }
                    }
                }
            }
            p.shown {
                span id="filter-count" role="status" aria-live="polite" { (all) " clauses" }
                button type="reset" { "Clear" }
            }
        }
    }
}
