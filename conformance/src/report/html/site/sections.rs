//! Comparison of implementations, by section and rule.

use maud::{Markup, html};

use super::super::text::{visible, written};
use super::grid::{grid, share};
use super::layout::Layout;
use super::{Page, SectionRules, Site, SiteEntry, documents, title};

pub(super) fn pages(site: &Site<'_>) -> Vec<Page> {
    let latest = site.latest();
    let mut pages = vec![("sections.html".to_owned(), written(all(site, &latest)))];
    for place in &site.sections {
        let columns = judged(&latest, place);
        if !columns.is_empty() {
            let path = format!("sections/{}.html", place.slug);
            pages.push((path, written(section_page(place, &columns))));
        }
    }
    pages
}

/// Returns the implementations on which some clause of a section was judged.
pub(super) fn judged<'s, 'a>(
    all: &[&'s SiteEntry<'a>],
    place: &SectionRules<'_>,
) -> Vec<&'s SiteEntry<'a>> {
    let judged = |one: &&&SiteEntry<'_>| one.score(&place.rules).1 > 0;
    all.iter().filter(judged).copied().collect()
}

fn all(site: &Site<'_>, latest: &[&SiteEntry<'_>]) -> Markup {
    let layout = Layout {
        depth: 0,
        kind: "Side by side",
        title: "By section",
        part: "sections.html",
    };
    layout.page(&html! {
        @for document in documents() {
            @let places: Vec<&SectionRules<'_>> = site.sections.iter().filter(|place| place.document == document).collect();
            @let columns: Vec<&SiteEntry<'_>> = latest.iter().filter(|one| one.has(document)).copied().collect();
            @if !places.is_empty() && !columns.is_empty() {
                section {
                    h2 { (title(document)) }
                    p.lead { "Rules passed, of those that were judged. A single number means that all of them passed." }
                    (table("", "sections/", &places, &columns))
                }
            }
        }
    })
}

/// Renders a table of sections by implementations; each section links to its page in `folder`.
pub(super) fn table(
    up: &str,
    folder: &str,
    places: &[&SectionRules<'_>],
    columns: &[&SiteEntry<'_>],
) -> Markup {
    html! {
        div.wide role="region" tabindex="0" aria-label="Rules passed by section" {
            table.scores {
                thead {
                    tr {
                        th scope="col" { "Section" }
                        @for one in columns {
                            th scope="col" { a href={ (up) (one.path) "/index.html" } { (visible(&one.title)) } }
                        }
                    }
                }
                tbody {
                    @for place in places {
                        @if !judged(columns, place).is_empty() {
                            tr {
                                th scope="row" { a href={ (up) (folder) (place.slug) ".html" } { (visible(place.name)) } }
                                @for one in columns {
                                    @let (passed, total) = one.score(&place.rules);
                                    td data-name=(visible(&one.title)) { (share(passed, total)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn section_page(place: &SectionRules<'_>, columns: &[&SiteEntry<'_>]) -> Markup {
    let layout = Layout {
        depth: 1,
        kind: title(place.document),
        title: place.name,
        part: "sections.html",
    };
    layout.page(&html! {
        section {
            h2 { "Every rule" span.count { (place.rules.len()) } }
            p.lead { "Each mark leads to the requests and answers behind it." }
            (grid("../", place, &place.rules, columns))
        }
    })
}
