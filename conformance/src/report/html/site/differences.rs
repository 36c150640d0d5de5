//! Differences between implementations or versions.

use maud::{Markup, html};

use super::super::text::{visible, written};
use super::grid::grid;
use super::layout::Layout;
use super::{Page, Rule, Site, SiteEntry};

/// Two implementations, and the number of rules on which both were judged.
struct Pair<'s, 'a> {
    one: &'s SiteEntry<'a>,
    other: &'s SiteEntry<'a>,
    shared: usize,
    /// Rules that one implementation passes and the other does not, by section in the order of the
    /// site.
    differ: Vec<Vec<Rule<'a>>>,
}

pub(super) fn pages(site: &Site<'_>) -> Vec<Page> {
    let pairs = pairs(site);
    let mut pages = vec![("differences.html".to_owned(), written(all(&pairs)))];
    for pair in &pairs {
        pages.push((pair.path(), written(pair.page(site))));
    }
    pages
}

/// Returns the pairs to compare: all latest versions, and each version with its predecessor.
fn pairs<'s, 'a>(site: &'s Site<'a>) -> Vec<Pair<'s, 'a>> {
    let latest = site.latest();
    let mut candidates: Vec<(&'s SiteEntry<'a>, &'s SiteEntry<'a>)> = Vec::new();
    for (index, one) in latest.iter().enumerate() {
        candidates.extend(latest.iter().skip(index + 1).map(|other| (*one, *other)));
    }
    for group in site.with_versions() {
        candidates.extend(
            group
                .iter()
                .zip(group.iter().skip(1))
                .map(|(one, next)| (*one, *next)),
        );
    }
    let pairs = candidates
        .into_iter()
        .map(|(one, other)| Pair::of(site, one, other));
    pairs.filter(|pair| pair.shared > 0).collect()
}

impl<'s, 'a> Pair<'s, 'a> {
    fn of(site: &Site<'a>, one: &'s SiteEntry<'a>, other: &'s SiteEntry<'a>) -> Self {
        let mut shared = 0;
        let mut differs = |rule: &&Rule<'a>| match (one.passes(rule.id), other.passes(rule.id)) {
            (Some(passes), Some(other_passes)) => {
                shared += 1;
                passes != other_passes
            }
            _ => false,
        };
        let sections = site.sections.iter();
        let differ =
            sections.map(|place| place.rules.iter().filter(&mut differs).copied().collect());
        let differ = differ.collect();
        Self {
            one,
            other,
            shared,
            differ,
        }
    }

    fn count(&self) -> usize {
        self.differ.iter().map(Vec::len).sum()
    }

    fn path(&self) -> String {
        // No folder has this character in its name.
        let name = |one: &SiteEntry<'_>| one.path.replace('/', "~");
        format!("differences/{}~{}.html", name(self.one), name(self.other))
    }

    fn page(&self, site: &Site<'a>) -> Markup {
        let title = format!("{} and {}", self.one.title, self.other.title);
        let layout = Layout {
            depth: 1,
            kind: "What only one of the two keeps",
            title: &title,
            part: "differences.html",
        };
        let columns = [self.one, self.other];
        layout.page(&html! {
            section {
                h2 { "Rules that differ" span.count { (self.count()) } }
                p.lead { "Of " (self.shared) " rules that both were judged by." }
                @for (place, rules) in site.sections.iter().zip(&self.differ) {
                    @if !rules.is_empty() {
                        h3 { (visible(place.name)) }
                        (grid("../", place, rules, &columns))
                    }
                }
                @if self.count() == 0 { p { "Both keep the same rules." } }
            }
        })
    }
}

fn all(pairs: &[Pair<'_, '_>]) -> Markup {
    let layout = Layout {
        depth: 0,
        kind: "Two of them",
        title: "Differences",
        part: "differences.html",
    };
    layout.page(&html! {
        section {
            h2 { "Every pair" span.count { (pairs.len()) } }
            p.lead { "How many rules only one of the two keeps, of those that both were judged by." }
            table.scores.pairs {
                thead { tr { th scope="col" { "Implementations" } th scope="col" { "Differ" } th scope="col" { "Judged on both" } } }
                tbody {
                    @for pair in pairs {
                        tr {
                            th scope="row" { a href=(pair.path()) { (visible(&pair.one.title)) " and " (visible(&pair.other.title)) } }
                            td data-name="Differ" { (pair.count()) }
                            td data-name="Judged on both" { (pair.shared) }
                        }
                    }
                }
            }
        }
    })
}
