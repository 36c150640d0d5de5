//! Coverage of sentences: the clauses that state each sentence, or the reason why none does.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use crate::catalogue::{Catalogue, Clause, Document, Level};

/// How the clauses of the catalogue cover a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SentenceStatus {
    /// A rule states it, with or without other clauses.
    Rule,
    /// Open clauses state it, but no rule.
    Open,
    /// Only unobservable clauses state it.
    Unobservable,
    /// No clause states it, and the catalogue explains why.
    Explained,
}

/// One sentence of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sentence<'a> {
    /// The document.
    pub document: Document,
    /// The section.
    pub section: &'static str,
    /// Number of the sentence in the section, from 1.
    pub sentence: usize,
    /// Coverage of the sentence.
    pub stated_by: SentenceStatus,
    /// The ids of the clauses that state the sentence.
    pub clauses: Vec<&'a str>,
    /// Why no clause states the sentence; none if one does.
    pub explanation: Option<String>,
}

/// Numbers of sentences of a document by their coverage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SentenceCounts {
    /// Number of all sentences.
    pub all: usize,
    /// Number of sentences that a rule states.
    pub rule: usize,
    /// Number of sentences that open clauses state, but no rule.
    pub open: usize,
    /// Number of sentences that only unobservable clauses state.
    pub unobservable: usize,
    /// Number of sentences that no clause states.
    pub explained: usize,
}

/// Returns every sentence of a catalogue with its coverage, in the order of the documents.
pub fn sentences(catalogue: &Catalogue) -> Vec<Sentence<'_>> {
    let mut stating: HashMap<(Document, &str, usize), Vec<&Clause>> = HashMap::new();
    for clause in catalogue.clauses() {
        for number in &clause.sentences {
            let place = (clause.document, clause.section, *number);
            stating.entry(place).or_default().push(clause);
        }
    }
    let mut sentences = Vec::new();
    for known in catalogue.sentences() {
        for sentence in 1..=known.count {
            let place = (known.document, known.section, sentence);
            let clauses = stating.remove(&place).unwrap_or_default();
            let explanation = known.without_clause.get(&sentence);
            sentences.push(Sentence {
                document: known.document,
                section: known.section,
                sentence,
                stated_by: status_of(&clauses),
                clauses: clauses.iter().map(|clause| clause.id.as_str()).collect(),
                explanation: explanation.map(ToString::to_string),
            });
        }
    }
    sentences
}

fn status_of(clauses: &[&Clause]) -> SentenceStatus {
    let any = |level: Level| clauses.iter().any(|clause| clause.level == level);
    if any(Level::Rule) {
        SentenceStatus::Rule
    } else if any(Level::Open) {
        SentenceStatus::Open
    } else if any(Level::Unobservable) {
        SentenceStatus::Unobservable
    } else {
        SentenceStatus::Explained
    }
}

impl SentenceCounts {
    pub(super) fn add(&mut self, status: SentenceStatus) {
        self.all += 1;
        *match status {
            SentenceStatus::Rule => &mut self.rule,
            SentenceStatus::Open => &mut self.open,
            SentenceStatus::Unobservable => &mut self.unobservable,
            SentenceStatus::Explained => &mut self.explained,
        } += 1;
    }

    pub(super) fn cells(&self) -> [usize; 5] {
        [
            self.all,
            self.rule,
            self.open,
            self.unobservable,
            self.explained,
        ]
    }
}

impl fmt::Display for SentenceStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Rule => "rule",
            Self::Open => "open",
            Self::Unobservable => "unobservable",
            Self::Explained => "explained",
        })
    }
}

/// Formats number and coverage of the sentence, and a line for each clause or the explanation.
impl fmt::Display for Sentence<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:4}  {:12}", self.sentence, self.stated_by)?;
        let lines = self.clauses.iter().copied();
        for (line, place) in lines.chain(self.explanation.as_deref()).zip(0..) {
            let indent = if place == 0 { 2 } else { 20 };
            writeln!(out, "{:indent$}{line}", "")?;
        }
        Ok(())
    }
}
