//! Table of rules by implementations.

use maud::{Markup, html};

use super::super::runs::CellState;
use super::super::text::{prose, visible};
use super::{Rule, SectionRules, SiteEntry};

/// Renders a table of rules, with a column for each implementation.
pub(super) fn grid(
    up: &str,
    place: &SectionRules<'_>,
    rules: &[Rule<'_>],
    columns: &[&SiteEntry<'_>],
) -> Markup {
    html! {
        div.wide role="region" tabindex="0" aria-label={ "Rules of " (visible(place.name)) } {
            table.grid {
                thead {
                    tr {
                        th scope="col" { "Rule" }
                        @for one in columns { th scope="col" { span { (visible(&one.title)) } } }
                    }
                }
                tbody {
                    @for rule in rules {
                        tr id=(rule.id) {
                            th scope="row" { (prose(rule.states)) code.rule { (visible(rule.id)) } }
                            @for one in columns { td { (tick(up, place, *rule, one)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the state of a rule, with a link to its exchanges.
pub(super) fn tick(
    up: &str,
    place: &SectionRules<'_>,
    rule: Rule<'_>,
    one: &SiteEntry<'_>,
) -> Markup {
    let mark = one.mark(rule.id);
    let words = html! { span.target { (visible(&one.title)) ": " (mark.words()) } };
    html! {
        @if mark == CellState::NotChosen || !one.slugs.contains(&place.slug) {
            span.mark.tick.(mark.name()) { (words) }
        } @else {
            a.mark.tick.(mark.name()) href={ (up) (one.path) "/" (place.slug) ".html#" (rule.id) } title=(mark.words()) { (words) }
        }
    }
}

/// Renders the number of passed rules among `of` rules.
pub(super) fn share(passed: usize, total: usize) -> Markup {
    html! {
        @match (passed, total) {
            (_, 0) => span.none { "–" },
            (passed, total) if passed == total => span.all { (passed) },
            (passed, total) => { (passed) " of " (total) },
        }
    }
}
