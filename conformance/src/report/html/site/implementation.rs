//! Pages of one implementation.

use maud::{Markup, html};

use super::super::clause::clause;
use super::super::runs::Section;
use super::super::score::{bar, counts, words as counted};
use super::super::text::{prose, truncated, visible, written};
use super::grid::share;
use super::layout::Layout;
use super::overview::cell;
use super::{Page, SectionRules, Site, SiteEntry, badge_of, documents, slug, title};
use crate::judge::verdict::Verdict;
use crate::report::{Outcome, failure};

/// Maximum length of a difference, in characters.
const DIFFERS_SHOWN: usize = 240;

pub(super) fn pages(site: &Site<'_>, entry: &SiteEntry<'_>) -> Vec<Page> {
    let places: Vec<(&SectionRules<'_>, &Section<'_>)> = places(site, entry);
    let first = format!("{}/index.html", entry.path);
    let mut pages = vec![(first, written(overview(entry, &places)))];
    for (place, section) in &places {
        let path = format!("{}/{}.html", entry.path, place.slug);
        pages.push((path, written(rules(entry, place, section))));
    }
    for standing in &entry.implementation.standings {
        let file = format!("{}.json", standing.profile.name);
        let badge = badge_of(standing);
        if entry.latest {
            let name = &entry.folder;
            pages.push((format!("badges/{name}/{file}"), badge.clone()));
        }
        pages.push((format!("badges/{}/{file}", entry.path), badge));
    }
    pages
}

/// Returns the sections with at least one clause judged on this implementation.
fn places<'s, 'a>(
    site: &'s Site<'a>,
    entry: &'s SiteEntry<'a>,
) -> Vec<(&'s SectionRules<'a>, &'s Section<'a>)> {
    let section = |place: &'s SectionRules<'a>| {
        let mut sections = entry.runs.sections.iter();
        let is_of_place =
            |section: &&Section<'_>| slug(section.document, section.name) == place.slug;
        let section = sections.find(is_of_place)?;
        entry
            .slugs
            .contains(&place.slug)
            .then_some((place, section))
    };
    site.sections.iter().filter_map(section).collect()
}

fn overview(one: &SiteEntry<'_>, places: &[(&SectionRules<'_>, &Section<'_>)]) -> Markup {
    let layout = Layout {
        depth: 2,
        kind: "Implementation",
        title: &one.title,
        part: "",
    };
    layout.page(&html! {
        section {
            @for line in &one.implementation.about { p.about { (prose(line)) } }
            @if !one.implementation.standings.is_empty() {
                h2 { "By profile" }
                table.scores {
                    thead { tr { th scope="col" { "Profile" } th scope="col" { "Rules passed" } th scope="col" { "Badge" } } }
                    tbody {
                        @for standing in &one.implementation.standings {
                            tr {
                                th scope="row" { (visible(&standing.title())) }
                                td data-name="Rules passed" { (cell(Some(standing))) }
                                td data-name="Badge" {
                                    a href={ "../../badges/" (one.path) "/" (standing.profile.name) ".json" } {
                                        (standing.profile.name) ".json"
                                    }
                                }
                            }
                        }
                    }
                }
                p.aside { "A badge is the endpoint document of services that draw badges, such as shields.io." }
            }
        }
        section {
            h2 { "By section" }
            @for document in documents() {
                @let in_document: Vec<_> = places.iter().filter(|(place, _)| place.document == document).collect();
                @if !in_document.is_empty() {
                    h3 { (title(document)) }
                    table.scores.sections {
                        thead { tr { th scope="col" { "Section" } th scope="col" { "Rules passed" } th scope="col" { "Verdicts" } } }
                        tbody {
                            @for (place, section) in in_document {
                                @let (passed, total) = one.score(&place.rules);
                                @let counts = counts(section.clauses.iter(), 0);
                                tr {
                                    th scope="row" { a href={ (place.slug) ".html" } { (visible(place.name)) } }
                                    td data-name="Rules passed" { (share(passed, total)) (bar(&counts)) }
                                    td.words data-name="Verdicts" { (counted(&counts)) }
                                }
                            }
                        }
                    }
                }
            }
        }
        (failures(one, places))
    })
}

fn failures(one: &SiteEntry<'_>, places: &[(&SectionRules<'_>, &Section<'_>)]) -> Markup {
    let failing: Vec<_> = places
        .iter()
        .flat_map(|(place, section)| {
            let rows = section
                .clauses
                .iter()
                .flat_map(|entry| entry.rows.iter().flatten());
            let failing =
                rows.filter(|row| matches!(row.outcome, Outcome::Fail | Outcome::ShouldFail));
            failing.map(move |row| (place, row))
        })
        .collect();
    html! {
        section {
            h2 { "What fails" span.count { (failing.len()) } }
            @if failing.is_empty() { p { "Nothing that " (visible(&one.title)) " was judged by." } }
            ol.failures {
                @for (place, row) in failing {
                    li {
                        a href={ (place.slug) ".html#" (row.judged.rule) } { (prose(&row.judged.states)) }
                        @if let Verdict::Fail(failure) = &row.judged.verdict {
                            span.headline { (truncated(&failure::differs(failure), DIFFERS_SHOWN)) }
                        }
                        @if let Some(known) = &row.known { p.aside { (prose(known.trim())) } }
                    }
                }
            }
        }
    }
}

fn rules(one: &SiteEntry<'_>, place: &SectionRules<'_>, section: &Section<'_>) -> Markup {
    let layout = Layout {
        depth: 2,
        kind: &format!("{}: {}", one.title, title(place.document)),
        title: place.name,
        part: "",
    };
    layout.page(&html! {
        p.about { a href="index.html" { "All of " (visible(&one.title)) } }
        section {
            h2 { "Every clause" span.count { (section.clauses.len()) } }
            p.lead { "Each line is one statement of a document. It opens to the exchanges that were judged." }
            section.section {
                h3 { (visible(place.name)) }
                @for entry in &section.clauses { (clause(&one.runs, entry)) }
            }
        }
    })
}
