//! Overview page: implementations by profile.

use maud::{Markup, html};

use super::super::text::visible;
use super::layout::Layout;
use super::{Rule, Site, SiteEntry};
use crate::catalogue::{Catalogue, Profile};
use crate::report::ProfileResult;

pub(super) fn page(site: &Site<'_>) -> Markup {
    let latest = site.latest();
    let layout = Layout {
        depth: 0,
        kind: "Conformance",
        title: "Policy engines and control planes",
        part: "index.html",
    };
    layout.page(&html! {
        section aria-labelledby="profiles-title" {
            h2 id="profiles-title" { "By profile" }
            p.lead { "A profile is a frozen set of rules. Each number says how many of the required rules were tried and passed; a rule that was not tried does not count as passed." }
            @for (title, names) in groups(&latest) {
                @let rows: Vec<&&SiteEntry<'_>> = latest.iter().filter(|one| names.iter().any(|name| result_of(one, name).is_some())).collect();
                h3 { (title) }
                (table(&rows, &names))
            }
        }
        (clients(site, &latest))
        (profile_subjects(&latest))
        section aria-labelledby="all-title" {
            h2 id="all-title" { "Every version" }
            ul.versions {
                @for one in &latest {
                    li {
                        b { (visible(&one.implementation.name)) }
                        @for version in site.all.iter().filter(|other| other.implementation.name == one.implementation.name) {
                            " " a href={ (version.path) "/index.html" } {
                                @if version.implementation.version.is_empty() { "current" } @else { (visible(&version.implementation.version)) }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// Returns the profiles by which some implementation was judged, in groups.
fn groups<'a>(latest: &[&SiteEntry<'a>]) -> Vec<(&'static str, Vec<&'a str>)> {
    let mut names: Vec<&str> = Vec::new();
    let known = Catalogue::embedded().map_or(&[][..], |known| known.profiles());
    let known: Vec<&str> = known.iter().map(|profile| profile.name.as_str()).collect();
    for one in latest {
        for standing in &one.implementation.standings {
            let name = standing.profile.name.as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let place = |name: &&str| known.iter().position(|known| known == name);
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    let with_prefix = |prefix: &str| -> Vec<&'a str> {
        let names = names.iter().copied();
        names.filter(|name| name.starts_with(prefix)).collect()
    };
    let (engine, control) = (with_prefix("engine-"), with_prefix("control-"));
    let others = names.iter().copied();
    let others = others.filter(|name| !engine.contains(name) && !control.contains(name));
    let groups = [
        ("Policy engines and libraries", engine.clone()),
        ("Control planes", control.clone()),
        ("Clients", others.collect()),
    ];
    let filled = groups.into_iter().filter(|(_, names)| !names.is_empty());
    filled.collect()
}

fn table(rows: &[&&SiteEntry<'_>], names: &[&str]) -> Markup {
    html! {
        table.scores {
            thead {
                tr {
                    th scope="col" { "Implementation" }
                    @for name in names { th scope="col" { (visible(name)) } }
                }
            }
            tbody {
                @for one in rows {
                    tr {
                        th scope="row" { a href={ (one.path) "/index.html" } { (visible(&one.title)) } }
                        @for name in names {
                            td data-name=(visible(name)) { (cell(result_of(one, name))) }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the implementations without a profile, with the rules outside the documents that they
/// pass.
fn clients(site: &Site<'_>, latest: &[&SiteEntry<'_>]) -> Markup {
    let places = site.sections.iter();
    let places = places.filter(|place| place.document.is_none());
    let rules: Vec<Rule<'_>> = places
        .flat_map(|place| place.rules.iter().copied())
        .collect();
    let rows = latest
        .iter()
        .filter(|one| one.implementation.standings.is_empty());
    let rows: Vec<&&SiteEntry<'_>> = rows.filter(|one| one.score(&rules).1 > 0).collect();
    html! {
        @if !rows.is_empty() {
            section aria-labelledby="clients-title" {
                h2 id="clients-title" { "Clients" }
                p.lead { "A client is judged by rules of its own: what has to be on the wire, and what has to be made of the answers. What it does not support is not judged." }
                table.scores {
                    thead {
                        tr {
                            th scope="col" { "Client" }
                            th scope="col" { "Rules passed" }
                        }
                    }
                    tbody {
                        @for one in rows {
                            @let (passed, judged) = one.score(&rules);
                            tr {
                                th scope="row" { a href={ (one.path) "/index.html" } { (visible(&one.title)) } }
                                td data-name="Rules passed" { span.all[passed == judged] { b { (passed) } " of " (judged) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn cell(standing: Option<&ProfileResult>) -> Markup {
    html! {
        @match standing {
            None => span.none { "–" },
            Some(ProfileResult { must, should, .. }) => {
                span.all[must.proven == must.rules] { b { (must.proven) } " of " (must.rules) }
                @if should.rules > 0 { span.should { "should: " (should.proven) " of " (should.rules) } }
            }
        }
    }
}

fn result_of<'a>(one: &'a SiteEntry<'_>, name: &str) -> Option<&'a ProfileResult> {
    let mut standings = one.implementation.standings.iter();
    standings.find(|standing| standing.profile.name == name)
}

/// Renders the subjects of the profiles.
fn profile_subjects(latest: &[&SiteEntry<'_>]) -> Markup {
    let known = Catalogue::embedded().map_or(&[][..], |known| known.profiles());
    let used = |profile: &&Profile| {
        let mut latest = latest.iter();
        latest.any(|one| result_of(one, &profile.name).is_some())
    };
    html! {
        section aria-labelledby="what-title" {
            h2 id="what-title" { "What the profiles are about" }
            dl.what {
                @for profile in known.iter().filter(used) {
                    dt { (profile.title()) }
                    dd { (profile.states) }
                }
            }
        }
    }
}
