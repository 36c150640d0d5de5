//! History of rules over the versions of an implementation.

use maud::{Markup, html};

use super::super::text::{visible, written};
use super::grid::grid;
use super::layout::Layout;
use super::sections::{judged, table};
use super::{Page, Rule, SectionRules, Site, SiteEntry, title};

pub(super) fn pages(site: &Site<'_>) -> Vec<Page> {
    let groups = site.with_versions();
    let mut pages = vec![("history.html".to_owned(), written(all(site, &groups)))];
    for group in &groups {
        let Some(first) = group.first() else { continue };
        let folder = &first.folder;
        for place in &site.sections {
            if !judged(group, place).is_empty() {
                let path = format!("history/{folder}/{}.html", place.slug);
                pages.push((path, written(version_page(place, group))));
            }
        }
    }
    pages
}

fn all(site: &Site<'_>, groups: &[Vec<&SiteEntry<'_>>]) -> Markup {
    let layout = Layout {
        depth: 0,
        kind: "From version to version",
        title: "History",
        part: "history.html",
    };
    layout.page(&html! {
        @if groups.is_empty() { p { "There is no implementation of several versions." } }
        @for group in groups {
            @if let Some(first) = group.first() {
                section {
                    h2 { (visible(&first.implementation.name)) }
                    p.lead { "Rules passed in each version, by section; a section links to all of its rules. Below are the rules whose verdict changed." }
                    @let places: Vec<&SectionRules<'_>> = site.sections.iter().collect();
                    (table("", &format!("history/{}/", first.folder), &places, group))
                    @for place in &site.sections {
                        @let changed: Vec<Rule<'_>> = changed(place, group);
                        @if !changed.is_empty() {
                            h3 { (visible(place.name)) }
                            (grid("", place, &changed, group))
                        }
                    }
                }
            }
        }
    })
}

/// Returns the rules that some version passes and another fails.
fn changed<'a>(place: &SectionRules<'a>, group: &[&SiteEntry<'_>]) -> Vec<Rule<'a>> {
    let changed = |rule: &&Rule<'_>| {
        let results = || group.iter().filter_map(|version| version.passes(rule.id));
        results().any(|passed| passed) && results().any(|passed| !passed)
    };
    place.rules.iter().filter(changed).copied().collect()
}

fn version_page(place: &SectionRules<'_>, group: &[&SiteEntry<'_>]) -> Markup {
    let name = group
        .first()
        .map_or("", |first| first.implementation.name.as_str());
    let title = format!("{}: {}", title(place.document), place.name);
    let layout = Layout {
        depth: 2,
        kind: &format!("{name} from version to version"),
        title: &title,
        part: "history.html",
    };
    layout.page(&html! {
        section {
            h2 { "Every rule" span.count { (place.rules.len()) } }
            (grid("../../", place, &place.rules, group))
        }
    })
}
