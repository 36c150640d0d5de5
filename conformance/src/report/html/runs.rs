//! Runs of a page, joined by clause in the order of the documents.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::catalogue::{Catalogue, Clause, Document, Level, sections};
use crate::report::{Digest, Outcome, Row, labels};

/// The runs and clauses of a page.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    pub(super) runs: Vec<Run<'a>>,
    /// The sections that have a clause, in the order of the documents.
    pub(super) sections: Vec<Section<'a>>,
}

/// One run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// The target's name, unique on the page.
    pub(super) label: String,
    pub(super) digest: &'a Digest,
}

/// One section of a document.
#[derive(Debug)]
pub(super) struct Section<'a> {
    /// `None` if this suite does not know the clauses.
    pub(super) document: Option<Document>,
    pub(super) name: &'a str,
    /// Anchor of the section on the page.
    pub(super) anchor: String,
    pub(super) clauses: Vec<Entry<'a>>,
}

/// One clause, with the result of each run.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) rule: &'a str,
    pub(super) states: &'a str,
    /// The clause in the catalogue, if this suite knows it.
    pub(super) clause: Option<&'a Clause>,
    /// Row of the clause in each run; none if the run did not choose the clause.
    pub(super) rows: Vec<Option<&'a Row>>,
}

/// State of a clause in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CellState {
    Judged(Outcome),
    Unobservable,
    NotChosen,
}

impl CellState {
    /// Every state, those that need attention first.
    pub(super) const ALL: [Self; 10] = [
        Self::Judged(Outcome::Fail),
        Self::Judged(Outcome::UnexpectedPass),
        Self::Judged(Outcome::ShouldFail),
        Self::Judged(Outcome::ExpectedFail),
        Self::Judged(Outcome::Flaky),
        Self::Judged(Outcome::Pass),
        Self::Judged(Outcome::Recorded),
        Self::Judged(Outcome::NotRun),
        Self::Unobservable,
        Self::NotChosen,
    ];

    /// Name of the state in the page's source.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Judged(outcome) => outcome.name(),
            Self::Unobservable => "unobservable",
            Self::NotChosen => "not-chosen",
        }
    }

    /// Name of the state for readers.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Judged(Outcome::Pass) => "Pass",
            Self::Judged(Outcome::Fail) => "Fail",
            Self::Judged(Outcome::ShouldFail) => "Should hold",
            Self::Judged(Outcome::ExpectedFail) => "Known deviation",
            Self::Judged(Outcome::UnexpectedPass) => "Unexpected pass",
            Self::Judged(Outcome::Flaky) => "Flaky",
            Self::Judged(Outcome::Recorded) => "Recorded",
            Self::Judged(Outcome::NotRun) => "Not run",
            Self::Unobservable => "Unobservable",
            Self::NotChosen => "Not chosen",
        }
    }
}

impl<'a> Entry<'a> {
    /// Returns the state of the clause in each run.
    pub(super) fn marks(&self) -> impl Iterator<Item = CellState> {
        let unobservable = self
            .clause
            .is_some_and(|clause| clause.level == Level::Unobservable);
        self.rows.iter().map(move |row| match row {
            Some(row) => CellState::Judged(row.outcome),
            None if unobservable => CellState::Unobservable,
            None => CellState::NotChosen,
        })
    }

    /// Whether the documents leave the behaviour open.
    pub(super) fn is_open(&self) -> bool {
        let levels = self.rows.iter().flatten().map(|row| row.judged.level);
        self.clause
            .map(|clause| clause.level)
            .into_iter()
            .chain(levels)
            .any(|level| level == Level::Open)
    }
}

impl<'a> Runs<'a> {
    pub(super) fn of(digests: &'a [Digest]) -> Self {
        let rows: Vec<HashMap<&str, &Row>> = digests.iter().map(rows).collect();
        let clauses = Catalogue::embedded().map_or(&[][..], |known| known.clauses());
        let files: HashSet<&str> = rows
            .iter()
            .flat_map(HashMap::keys)
            .map(|id| file(id))
            .collect();
        let mut found: BTreeMap<(usize, &str), Vec<Entry<'a>>> = BTreeMap::new();
        let mut seen = HashSet::new();
        for clause in clauses {
            let rule = clause.id.as_str();
            let entry = entry(rule, Some(clause), &rows);
            // Unobservable clauses are shown along with the chosen ones.
            let is_related = clause.level == Level::Unobservable && files.contains(file(rule));
            if is_related || entry.rows.iter().any(Option::is_some) {
                seen.insert(rule);
                let place = (place(clause.document, clause.section), clause.section);
                found.entry(place).or_default().push(entry);
            }
        }
        // Evidence of another edition of the suite may contain clauses that this one does not know.
        for row in digests.iter().flat_map(|digest| &digest.rows) {
            let rule = row.judged.rule.as_str();
            if seen.insert(rule) {
                let place = (usize::MAX, row.judged.section.as_str());
                found
                    .entry(place)
                    .or_default()
                    .push(entry(rule, None, &rows));
            }
        }
        let sections = found
            .into_iter()
            .enumerate()
            .map(|(number, ((_, name), clauses))| Section {
                document: clauses
                    .first()
                    .and_then(|entry| Some(entry.clause?.document)),
                name,
                anchor: format!("section-{number}"),
                clauses,
            });
        Self {
            runs: label(digests),
            sections: sections.collect(),
        }
    }

    /// Returns every clause, in the order of the page.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry<'a>> {
        self.sections.iter().flat_map(|section| &section.clauses)
    }

    /// Whether the page shows several runs.
    pub(super) fn several(&self) -> bool {
        self.runs.len() > 1
    }
}

fn rows(digest: &Digest) -> HashMap<&str, &Row> {
    digest
        .rows
        .iter()
        .map(|row| (row.judged.rule.as_str(), row))
        .collect()
}

fn entry<'a>(
    rule: &'a str,
    clause: Option<&'a Clause>,
    rows: &[HashMap<&'a str, &'a Row>],
) -> Entry<'a> {
    let rows: Vec<_> = rows.iter().map(|rows| rows.get(rule).copied()).collect();
    let stated = rows.iter().flatten().map(|row| row.judged.states.as_str());
    // A rule that was not reached has no statement in the evidence.
    let stated = stated.filter(|states| !states.is_empty());
    let known = clause.map(|clause| clause.states.as_str());
    Entry {
        rule,
        states: stated.chain(known).next().unwrap_or_default(),
        clause,
        rows,
    }
}

/// Returns the clause file that contains a rule id.
fn file(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(file, _)| file)
}

/// Position of a section among those of both documents.
fn place(document: Document, section: &str) -> usize {
    let before = Document::ALL
        .into_iter()
        .take_while(|known| *known != document);
    let before: usize = before.map(|known| sections(known).len()).sum();
    let inside = sections(document)
        .iter()
        .position(|known| *known == section);
    before + inside.unwrap_or_default()
}

/// Sort key of a section of a page; unknown sections are last.
pub(super) fn order(section: &Section<'_>) -> usize {
    let document = section.document;
    document.map_or(usize::MAX, |document| place(document, section.name))
}

/// Assigns a unique name to each run.
fn label(digests: &[Digest]) -> Vec<Run<'_>> {
    let labels = labels(digests).into_iter();
    labels
        .zip(digests)
        .map(|(label, digest)| Run { label, digest })
        .collect()
}
