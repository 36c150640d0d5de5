//! Static site that compares many implementations.
//!
//! The site has no script: everything can be read, searched and linked directly. Each section has a
//! page, so that pages are small.

mod differences;
mod grid;
mod history;
mod implementation;
mod layout;
mod overview;
mod sections;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::runs::{CellState, Runs};
use super::style;
use super::text::written;
use crate::catalogue::{Catalogue, Document, Level};
use crate::report::{Digest, Outcome, ProfileResult, Row, badge};

/// One implementation in one version, and the results of a run on it.
#[derive(Debug)]
pub struct Implementation {
    /// Name of the implementation, such as `OPA`.
    pub name: String,
    /// Version of the implementation; may be empty.
    pub version: String,
    /// Further information on the implementation, line by line.
    pub about: Vec<String>,
    /// Results of the run.
    pub digest: Digest,
    /// Results by each profile that the implementation was judged by.
    pub standings: Vec<ProfileResult>,
}

/// A file of the site: path with `/` as separator, and contents.
pub type Page = (String, String);

/// Renders every page about these implementations. Versions of the same one are adjacent, the
/// latest last.
pub fn site(implementations: &[Implementation]) -> Vec<Page> {
    let site = Site::of(implementations);
    let mut pages = vec![("style.css".to_owned(), style())];
    pages.push(("index.html".to_owned(), written(overview::page(&site))));
    pages.extend(sections::pages(&site));
    pages.extend(history::pages(&site));
    pages.extend(differences::pages(&site));
    for one in &site.all {
        pages.extend(implementation::pages(&site, one));
    }
    pages
}

/// Contents of all pages.
struct Site<'a> {
    all: Vec<SiteEntry<'a>>,
    /// Sections with at least one judged clause, in the order of the documents.
    sections: Vec<SectionRules<'a>>,
}

/// One implementation, with its location on the site.
struct SiteEntry<'a> {
    implementation: &'a Implementation,
    /// Name and version of the implementation.
    title: String,
    /// Folder of all versions of the implementation; `path` is the folder of this version.
    folder: String,
    path: String,
    /// Whether this is the latest version of the implementation.
    latest: bool,
    rows: HashMap<&'a str, &'a Row>,
    runs: Runs<'a>,
    /// Slugs of the sections for which the implementation has pages.
    slugs: BTreeSet<String>,
}

/// A section and its judged rules.
struct SectionRules<'a> {
    document: Option<Document>,
    name: &'a str,
    /// Slug of the section in file names.
    slug: String,
    rules: Vec<Rule<'a>>,
}

/// A judged rule.
#[derive(Clone, Copy)]
struct Rule<'a> {
    id: &'a str,
    states: &'a str,
}

impl<'a> Site<'a> {
    fn of(implementations: &'a [Implementation]) -> Self {
        let mut all: Vec<SiteEntry<'a>> = implementations
            .iter()
            .enumerate()
            .map(|(index, implementation)| {
                let later = implementations.iter().skip(index + 1);
                let latest = !later.clone().any(|other| other.name == implementation.name);
                SiteEntry::new(implementation, latest)
            })
            .collect();
        set_folders(&mut all);
        let mut places: BTreeMap<(usize, &str), SectionRules<'a>> = BTreeMap::new();
        for section in all.iter().flat_map(|one| &one.runs.sections) {
            for entry in &section.clauses {
                let mut rows = entry.rows.iter().flatten();
                if !rows.any(|row| is_judged(row)) {
                    continue;
                }
                let key = (super::runs::order(section), section.name);
                let place = places.entry(key).or_insert_with(|| SectionRules {
                    document: section.document,
                    name: super::score::name(section),
                    slug: slug(section.document, section.name),
                    rules: Vec::new(),
                });
                if !place.rules.iter().any(|rule| rule.id == entry.rule) {
                    let (id, states) = (entry.rule, entry.states);
                    place.rules.push(Rule { id, states });
                }
            }
        }
        let mut sections: Vec<SectionRules<'a>> = places.into_values().collect();
        let order = Catalogue::embedded().map_or(&[][..], |known| known.clauses());
        let order: HashMap<&str, usize> =
            order.iter().map(|one| one.id.as_str()).zip(0..).collect();
        for place in &mut sections {
            let position = |rule: &Rule<'_>| order.get(rule.id).copied().unwrap_or(usize::MAX);
            place.rules.sort_by_key(position);
        }
        Self { all, sections }
    }

    /// Returns the latest version of each implementation.
    fn latest(&self) -> Vec<&SiteEntry<'a>> {
        self.all.iter().filter(|one| one.latest).collect()
    }

    /// Returns all versions of each implementation that has several.
    fn with_versions(&self) -> Vec<Vec<&SiteEntry<'a>>> {
        let mut groups: Vec<Vec<&SiteEntry<'a>>> = Vec::new();
        for one in &self.all {
            match groups.last_mut() {
                Some(group)
                    if group
                        .iter()
                        .any(|other| other.implementation.name == one.implementation.name) =>
                {
                    group.push(one);
                }
                _ => groups.push(vec![one]),
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }
}

impl<'a> SiteEntry<'a> {
    fn new(implementation: &'a Implementation, latest: bool) -> Self {
        let version = match implementation.version.as_str() {
            "" => "current",
            version => version,
        };
        let rows = implementation.digest.rows.iter();
        let runs = Runs::of(std::slice::from_ref(&implementation.digest));
        let judged = runs.sections.iter().filter(|section| {
            let mut rows = section.clauses.iter().flat_map(|entry| &entry.rows);
            rows.any(|row| row.is_some_and(is_judged))
        });
        Self {
            slugs: judged
                .map(|section| slug(section.document, section.name))
                .collect(),
            title: match implementation.version.as_str() {
                "" => implementation.name.clone(),
                version => format!("{} {version}", implementation.name),
            },
            folder: words(&implementation.name),
            path: version.replace(['/', '\\'], "-"),
            latest,
            rows: rows.map(|row| (row.judged.rule.as_str(), row)).collect(),
            runs,
            implementation,
        }
    }

    /// Returns the state of a rule on this implementation.
    fn mark(&self, rule: &str) -> CellState {
        match self.rows.get(rule) {
            Some(row) => CellState::Judged(row.outcome),
            None => CellState::NotChosen,
        }
    }

    /// Whether the implementation passes a rule; none if the rule was not judged.
    fn passes(&self, rule: &str) -> Option<bool> {
        let row = self.rows.get(rule)?;
        (is_judged(row) && row.judged.level == Level::Rule).then(|| row.is_proven())
    }

    /// Numbers of passed and of judged rules among these.
    fn score(&self, rules: &[Rule<'_>]) -> (usize, usize) {
        let results = rules.iter().filter_map(|rule| self.passes(rule.id));
        results.fold((0, 0), |(passed, total), result| {
            (passed + usize::from(result), total + 1)
        })
    }

    /// Whether any clause of a document was judged on this implementation.
    fn has(&self, document: Option<Document>) -> bool {
        let mut rows = self.implementation.digest.rows.iter();
        rows.any(|row| row.document == document && is_judged(row))
    }
}

/// Folders of the site that do not belong to an implementation.
const OTHERS: [&str; 4] = ["badges", "differences", "history", "sections"];

/// Assigns a separate folder to each version. A name without letters, equal to another folder, or
/// different from it only in punctuation, gets a number; earlier names are unchanged.
fn set_folders(all: &mut [SiteEntry<'_>]) {
    let mut taken: BTreeSet<String> = OTHERS.map(str::to_owned).into();
    let mut last: Option<(&str, String)> = None;
    for one in all {
        let name = one.implementation.name.as_str();
        one.folder = match last {
            Some((before, folder)) if before == name => folder,
            _ => unique_name(&mut taken, &one.folder),
        };
        // A badge of all versions is a file next to their folders.
        let version = one.path.trim_start_matches('.').replace(".json", "-json");
        one.path = unique_name(&mut taken, &format!("{}/{version}", one.folder));
        last = Some((name, one.folder.clone()));
    }
}

/// Returns the name, or with the first number that makes it unique, and reserves it.
fn unique_name(taken: &mut BTreeSet<String>, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let is_incomplete = |name: &String| name.is_empty() || name.ends_with('/');
    let unique = names.find(|name| !is_incomplete(name) && !taken.contains(name));
    let unique = unique.unwrap_or_default();
    taken.insert(unique.clone());
    unique
}

/// Whether a row was judged.
fn is_judged(row: &Row) -> bool {
    row.outcome != Outcome::NotRun
}

/// Slug of a section in file names.
fn slug(document: Option<Document>, section: &str) -> String {
    let document = document.map_or("other", Document::name);
    format!("{document}-{}", words(section))
}

/// Converts a string to lower-case letters and digits, with `-` between words.
fn words(text: &str) -> String {
    let normalized = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            ' '
        }
    };
    let text: String = text.chars().map(normalized).collect();
    text.split_whitespace().collect::<Vec<_>>().join("-")
}

/// Returns the documents that sections belong to; `None` is for unknown clauses.
fn documents() -> impl Iterator<Item = Option<Document>> {
    let [control, engine] = Document::ALL;
    [Some(engine), Some(control), None].into_iter()
}

/// The title of a document.
fn title(document: Option<Document>) -> &'static str {
    document.map_or("Rules for clients", super::score::title)
}

/// The badge of a profile as JSON.
fn badge_of(standing: &ProfileResult) -> String {
    badge::of_result(standing).unwrap_or_default()
}

#[cfg(test)]
mod tests;
