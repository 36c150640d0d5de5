//! Sentences of the two documents, read from `specs/*.sentences.yaml`: their number in each
//! section, and the reasons why some have no clause.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::Deserialize;

use super::{Catalogue, Document, Level, sections};

/// The sentences of one section. They are numbered from 1, in the order of the section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentences {
    /// The document.
    pub document: Document,
    /// The section, one of [`sections`](fn@super::sections).
    pub section: &'static str,
    /// Number of sentences.
    pub count: usize,
    /// Sentences that no clause states.
    pub without_clause: BTreeMap<usize, Explanation>,
}

/// Reason why no clause states a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explanation {
    /// The reason, in words.
    Reason(String),
    /// The sentence repeats another one of the document, which has clauses.
    Repeats {
        /// The section of the other sentence.
        section: String,
        /// The number of the other sentence.
        sentence: usize,
    },
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reason(reason) => f.write_str(reason),
            Self::Repeats { section, sentence } => {
                write!(f, "Repeats {section}, sentence {sentence}.")
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sections: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    section: String,
    sentences: usize,
    #[serde(default)]
    without_clause: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    sentence: usize,
    reason: Option<String>,
    repeats: Option<SentencePlace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SentencePlace {
    section: String,
    sentence: usize,
}

/// Reads the sentences of both documents.
pub(super) fn read(files: &[(&str, &str)], defects: &mut Vec<String>) -> Vec<Sentences> {
    let mut all = Vec::new();
    for document in Document::ALL {
        let path = format!("{document}.sentences");
        let mut defect = |message: String| defects.push(format!("specs/{path}.yaml: {message}"));
        let Some((_, text)) = files.iter().find(|(known, _)| *known == path) else {
            defect("missing".to_owned());
            continue;
        };
        match serde_yaml::from_str::<File>(text) {
            Ok(file) => all.extend(document_sentences(document, file, &mut defect)),
            Err(error) => defect(error.to_string()),
        }
    }
    all
}

fn document_sentences(
    document: Document,
    file: File,
    defect: &mut impl FnMut(String),
) -> Vec<Sentences> {
    let names = file.sections.iter().map(|known| known.section.as_str());
    if !names.eq(sections(document).iter().copied()) {
        defect(format!(
            "the sections are not those of the {document} document, or are in another order"
        ));
        return Vec::new();
    }
    let entries = sections(document).iter().zip(file.sections);
    entries
        .map(|(section, entry)| Sentences {
            document,
            section,
            count: entry.sentences,
            without_clause: explanations(entry, defect),
        })
        .collect()
}

fn explanations(section: Section, defect: &mut impl FnMut(String)) -> BTreeMap<usize, Explanation> {
    let mut explanations = BTreeMap::new();
    for entry in section.without_clause {
        let location = format!("{}, sentence {}", section.section, entry.sentence);
        if !(1..=section.sentences).contains(&entry.sentence) {
            defect(format!(
                "{location}: the section has only {} sentences",
                section.sentences
            ));
        }
        let explanation = match (entry.reason, entry.repeats) {
            (Some(reason), None) if !reason.trim().is_empty() => Explanation::Reason(reason),
            (None, Some(SentencePlace { section, sentence })) => {
                Explanation::Repeats { section, sentence }
            }
            _ => {
                defect(format!("{location}: needs either `reason` or `repeats`"));
                continue;
            }
        };
        if explanations.insert(entry.sentence, explanation).is_some() {
            defect(format!("{location}: is listed twice"));
        }
    }
    explanations
}

/// Returns the defect of a clause's sentence numbers, if any, in a section with `count` sentences.
pub(super) fn numbers_defect(numbers: &[usize], level: Level, count: usize) -> Option<String> {
    if numbers.is_empty() && level != Level::Open {
        return Some(format!("has level `{level}` but names no sentence"));
    }
    if !numbers.iter().is_sorted_by(|a, b| a < b) {
        return Some("names sentences twice or not in their order".to_owned());
    }
    let out_of_range = numbers
        .iter()
        .find(|number| !(1..=count).contains(*number))?;
    Some(format!(
        "names sentence {out_of_range} of a section that has {count}"
    ))
}

/// Checks that each sentence has either a clause or an explanation.
pub(super) fn check(catalogue: &Catalogue, defects: &mut Vec<String>) {
    let clauses = catalogue.clauses.iter();
    let stated: HashSet<(Document, &str, usize)> = clauses
        .flat_map(|clause| {
            let numbers = clause.sentences.iter();
            numbers.map(|number| (clause.document, clause.section, *number))
        })
        .collect();
    for known in &catalogue.sentences {
        for number in 1..=known.count {
            let has_clause = stated.contains(&(known.document, known.section, number));
            let finding = match (has_clause, known.without_clause.get(&number)) {
                (false, None) => "has neither a clause nor an explanation",
                (true, Some(_)) => "has both a clause and an explanation",
                (false, Some(Explanation::Repeats { section, sentence }))
                    if !stated.contains(&(known.document, section, *sentence)) =>
                {
                    "repeats a sentence that has no clause"
                }
                _ => continue,
            };
            defects.push(format!(
                "specs/{}.sentences.yaml: {}, sentence {number}: {finding}",
                known.document, known.section
            ));
        }
    }
}
