//! Coverage of the documents: for each section, the numbers of clauses by level, with and without a
//! scenario, and of sentences.

mod sentences;

use std::fmt;

use serde::Serialize;

use crate::catalogue::{Catalogue, Clause, Document, Level, sections};
use crate::rules;

pub use sentences::{Sentence, SentenceCounts, SentenceStatus, sentences};

/// Coverage of both documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// One row for each section, in the order of the documents.
    pub sections: Vec<Row>,
    /// Sums over all sections.
    pub total: Counts,
}

/// Coverage of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The document.
    pub document: Document,
    /// The section.
    pub section: &'static str,
    /// Numbers of clauses and sentences of the section.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Numbers of clauses and sentences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Number of documented rules.
    pub rules: usize,
    /// Number of rules that a scenario checks.
    pub rules_with_scenario: usize,
    /// Number of rules without a scenario because their capability has no scenarios yet.
    pub rules_pending: usize,
    /// Number of clauses on which the document is silent.
    pub open: usize,
    /// Number of open clauses whose behaviour a scenario records.
    pub open_with_scenario: usize,
    /// Number of clauses that HTTP cannot show; each has a reason.
    pub unobservable: usize,
    /// Numbers of sentences by their coverage.
    pub sentences: SentenceCounts,
}

impl Coverage {
    /// Computes the coverage of a catalogue by the suite's own scenarios.
    pub fn of(catalogue: &Catalogue) -> Self {
        let with_scenario: std::collections::HashSet<String> = rules::ids().collect();
        let sentences = sentences(catalogue);
        let mut total = Counts::default();
        let mut rows = Vec::new();
        for document in Document::ALL {
            for section in sections(document) {
                let mut counts = Counts::default();
                let within =
                    |clause: &&Clause| clause.document == document && clause.section == *section;
                for clause in catalogue.clauses().iter().filter(within) {
                    let has_scenario = with_scenario.contains(&clause.id);
                    let pending = catalogue.pending(&clause.capability);
                    counts.add(clause.level, has_scenario, pending);
                    total.add(clause.level, has_scenario, pending);
                }
                let in_section = sentences
                    .iter()
                    .filter(|known| known.document == document && known.section == *section);
                for sentence in in_section {
                    counts.sentences.add(sentence.stated_by);
                    total.sentences.add(sentence.stated_by);
                }
                rows.push(Row {
                    document,
                    section,
                    counts,
                });
            }
        }
        Self {
            sections: rows,
            total,
        }
    }
}

impl Counts {
    fn add(&mut self, level: Level, has_scenario: bool, pending: bool) {
        match level {
            Level::Rule => {
                self.rules += 1;
                self.rules_with_scenario += usize::from(has_scenario);
                self.rules_pending += usize::from(pending && !has_scenario);
            }
            Level::Open => {
                self.open += 1;
                self.open_with_scenario += usize::from(has_scenario);
            }
            Level::Unobservable => self.unobservable += 1,
        }
    }

    /// Number of rules without a scenario that are not pending.
    pub fn rules_silent(&self) -> usize {
        self.rules - self.rules_with_scenario - self.rules_pending
    }

    fn cells(&self) -> [usize; 6] {
        [
            self.rules,
            self.rules_with_scenario,
            self.rules_pending,
            self.open,
            self.open_with_scenario,
            self.unobservable,
        ]
    }
}

/// Formats a table of the clauses, then one of the sentences.
impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clauses = [
            "rules",
            "shown",
            "pending",
            "open",
            "recorded",
            "unobservable",
        ];
        let sentences = ["sentences", "rule", "open", "unobservable", "explained"];
        self.table(out, clauses, Counts::cells)?;
        writeln!(out)?;
        self.table(out, sentences, |counts| counts.sentences.cells())
    }
}

impl Coverage {
    fn table<const N: usize>(
        &self,
        out: &mut fmt::Formatter<'_>,
        headings: [&str; N],
        cells: impl Fn(&Counts) -> [usize; N],
    ) -> fmt::Result {
        let width = self
            .sections
            .iter()
            .map(|row| row.document.name().len() + 2 + row.section.len())
            .max()
            .unwrap_or_default();
        let line = |out: &mut fmt::Formatter<'_>, name: &str, cells: [String; N]| {
            write!(out, "{name:width$}")?;
            for (cell, heading) in cells.iter().zip(headings) {
                write!(out, "  {cell:>0$}", heading.len())?;
            }
            writeln!(out)
        };
        line(out, "section", headings.map(str::to_owned))?;
        for row in &self.sections {
            let name = format!("{}  {}", row.document.name(), row.section);
            line(out, &name, cells(&row.counts).map(|n| n.to_string()))?;
        }
        line(out, "total", cells(&self.total).map(|n| n.to_string()))
    }
}
