//! Strict parser of `specs/edition.toml`, `specs/*.sentences.yaml`, the clause files and the
//! profiles.

use std::collections::HashMap;

use serde::Deserialize;

use super::{
    Capability, Catalogue, CatalogueError, Clause, Document, Level, Pack, profile, sections,
    sentences,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edition {
    documents: Documents,
    capabilities: toml::map::Map<String, toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Documents {
    control: String,
    engine: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapabilityEntry {
    states: String,
    #[serde(default)]
    pending: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    endpoint: Option<String>,
    topic: Option<String>,
    clauses: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    section: String,
    #[serde(default)]
    sentences: Vec<usize>,
    level: Level,
    capability: String,
    states: String,
    reason: Option<String>,
}

/// Reads all files and collects every defect before it fails.
pub(super) fn catalogue(files: &[(&str, &str)]) -> Result<Catalogue, CatalogueError> {
    let mut defects = Vec::new();
    let mut catalogue = Catalogue::default();
    match files.iter().find(|(path, _)| *path == "edition") {
        Some((_, text)) => edition(text, &mut catalogue, &mut defects),
        None => defects.push("specs/edition.toml: missing".to_owned()),
    }
    catalogue.sentences = sentences::read(files, &mut defects);
    for (path, text) in files {
        let is_other = path.ends_with(".openapi") || path.ends_with(".sentences");
        if *path != "edition" && !is_other && !path.starts_with(profile::FOLDER) {
            clause_file(path, text, &mut catalogue, &mut defects);
        }
    }
    for (path, text) in files {
        if path.starts_with(profile::FOLDER) {
            profile::read(path, text, &mut catalogue, &mut defects);
        }
    }
    sentences::check(&catalogue, &mut defects);
    if defects.is_empty() {
        Ok(catalogue)
    } else {
        Err(CatalogueError(defects))
    }
}

fn edition(text: &str, catalogue: &mut Catalogue, defects: &mut Vec<String>) {
    let edition: Edition = match toml::from_str(text) {
        Ok(edition) => edition,
        Err(error) => return defects.push(format!("specs/edition.toml: {error}")),
    };
    catalogue.titles = vec![
        (Document::Control, edition.documents.control),
        (Document::Engine, edition.documents.engine),
    ];
    for (name, value) in edition.capabilities {
        match value.try_into::<CapabilityEntry>() {
            Ok(entry) => catalogue.capabilities.push(Capability {
                name,
                states: entry.states,
                pending: entry.pending,
            }),
            Err(error) => defects.push(format!("specs/edition.toml: capability `{name}`: {error}")),
        }
    }
}

fn clause_file(path: &str, text: &str, catalogue: &mut Catalogue, defects: &mut Vec<String>) {
    let name = format!("specs/{path}.yaml");
    let file: File = match serde_yaml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let line = error.location().map_or(1, |location| location.line());
            return defects.push(format!("{name}:{line}: {error}"));
        }
    };
    let Some(document) = Document::of(path) else {
        return defects.push(format!(
            "{name}:1: the path does not start with the name of a document"
        ));
    };
    if file.endpoint.is_some() == file.topic.is_some() {
        defects.push(format!("{name}:1: needs either `endpoint` or `topic`"));
    }
    if file.clauses.is_empty() {
        defects.push(format!("{name}:1: contains no clause"));
    }
    let pack = Pack::of(path);
    let known_sections = pack.map_or(sections(document), Pack::sections);
    let lines = clause_lines(text);
    for entry in file.clauses {
        let line = lines.get(entry.id.as_str()).copied().unwrap_or(1);
        let mut defect = |message: String| defects.push(format!("{name}:{line}: {message}"));
        check(&entry, catalogue, &mut defect);
        let id = format!("{path}/{}", entry.id);
        if catalogue.index.contains_key(&id) {
            defect(format!("`{}` appears twice", entry.id));
        }
        let section = known_sections.iter().find(|known| **known == entry.section);
        let Some(section) = section else {
            defect(format!(
                "the {document} document has no section `{}`",
                entry.section
            ));
            continue;
        };
        let sentence_defect = match pack {
            None => {
                let count = sentence_count(catalogue, document, section);
                sentences::numbers_defect(&entry.sentences, entry.level, count)
            }
            Some(_) if entry.sentences.is_empty() => None,
            Some(_) => Some("names sentences, but clauses of a pack have none".to_owned()),
        };
        if let Some(message) = sentence_defect {
            defect(format!("`{}` {message}", entry.id));
        }
        let clauses = match pack {
            None => &mut catalogue.clauses,
            Some(_) => &mut catalogue.packed,
        };
        catalogue.index.insert(id.clone(), clauses.len());
        clauses.push(Clause {
            id,
            document,
            section,
            sentences: entry.sentences,
            level: entry.level,
            capability: entry.capability,
            states: entry.states.trim().to_owned(),
            reason: entry.reason,
            endpoint: file.endpoint.clone(),
            topic: file.topic.clone(),
        });
    }
}

/// Number of sentences in a section.
fn sentence_count(catalogue: &Catalogue, document: Document, section: &str) -> usize {
    let mut known = catalogue.sentences.iter();
    let known = known.find(|known| known.document == document && known.section == section);
    known.map_or(0, |known| known.count)
}

fn check(entry: &Entry, catalogue: &Catalogue, defect: &mut impl FnMut(String)) {
    if !kebab_case(&entry.id) {
        defect(format!("id `{}` is not in kebab-case", entry.id));
    }
    if entry.states.trim().is_empty() {
        defect(format!("`{}` states nothing", entry.id));
    }
    if catalogue.capability(&entry.capability).is_none() {
        defect(format!(
            "no capability `{}` in specs/edition.toml",
            entry.capability
        ));
    }
    match (entry.level, entry.reason.as_deref().map(str::trim)) {
        (_, Some("")) => defect(format!("the reason of `{}` is empty", entry.id)),
        (Level::Unobservable, None) => {
            defect(format!(
                "`{}` is unobservable and gives no reason",
                entry.id
            ));
        }
        (Level::Rule, Some(_)) => {
            defect(format!("`{}` is a rule: a reason is not allowed", entry.id));
        }
        _ => {}
    }
}

/// Whether an id starts with a letter and consists of words joined by single hyphens, each of
/// lower-case letters and digits.
fn kebab_case(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_lowercase())
        && id.split('-').all(|word| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

/// Line number of each clause's `id`; the last one for a repeated id.
fn clause_lines(text: &str) -> HashMap<&str, usize> {
    text.lines()
        .zip(1..)
        .filter_map(|(line, number)| {
            let id = line
                .trim_start()
                .trim_start_matches("- ")
                .strip_prefix("id:")?;
            Some((id.trim().trim_matches(['"', '\'']), number))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const EDITION: (&str, &str) = (
        "edition",
        "[documents]\ncontrol = 'C'\nengine = 'E'\n[capabilities]\nhealth = { states = 's' }\n",
    );

    const GOOD: &str = "endpoint: GET /health\nclauses:\n  - id: answers\n    section: Versioning\n    \
                        sentences: [1, 2]\n    level: rule\n    capability: health\n    states: It \
                        answers.\n";

    /// Returns the sentences of a document: three in the section Versioning, the last of them
    /// explained by `explained`, and one explained sentence in every other section.
    fn sentences(document: Document, explained: &str) -> String {
        let section = |name: &&str| match *name {
            "Versioning" => format!(
                "- section: Versioning\n  sentences: 3\n  without_clause: [{{sentence: 3, {explained}}}]\n"
            ),
            name => format!(
                "- section: {name}\n  sentences: 1\n  without_clause: [{{sentence: 1, reason: r}}]\n"
            ),
        };
        let sections: String = sections(document).iter().map(section).collect();
        format!("sections:\n{sections}")
    }

    fn defects_of(file: &str, engine: &str) -> String {
        let control = sentences(Document::Control, "reason: r");
        let control = control.replace("sentences: 3", "sentences: 1");
        let files = [
            EDITION,
            (
                "control.sentences",
                &control.replace("sentence: 3", "sentence: 1"),
            ),
            ("engine.sentences", engine),
            ("engine/health/get", file),
        ];
        match catalogue(&files) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    fn defects(file: &str) -> String {
        defects_of(file, &sentences(Document::Engine, "reason: r"))
    }

    #[rstest]
    #[case::level("level: rule", "level: must", "get.yaml:6: ")]
    #[case::unknown_field("level: rule", "levels: rule", "unknown field `levels`")]
    #[case::unobservable(
        "level: rule",
        "level: unobservable",
        "get.yaml:3: `answers` is unobservable"
    )]
    #[case::no_statement("It answers.", "''", "get.yaml:3: `answers` states nothing")]
    #[case::section(
        "Versioning",
        "Version",
        "get.yaml:3: the engine document has no section `Version`"
    )]
    #[case::capability(
        "capability: health",
        "capability: helth",
        "get.yaml:3: no capability `helth`"
    )]
    #[case::upper_case(
        "id: answers",
        "id: Answers",
        "get.yaml:3: id `Answers` is not in kebab-case"
    )]
    #[case::trailing_dash("id: answers", "id: answers-", "is not in kebab-case")]
    #[case::no_endpoint(
        "endpoint: GET /health",
        "topic: T\nendpoint: E",
        "get.yaml:1: needs either"
    )]
    #[case::reason("states:", "reason: r\n    states:", "a reason is not allowed")]
    fn refuses_what_would_be_lost_with_file_and_line(
        #[case] from: &str,
        #[case] to: &str,
        #[case] expected: &str,
    ) {
        let found = defects(&GOOD.replace(from, to));
        assert!(
            found.contains(expected),
            "{to}: expected {expected:?}, got {found:?}"
        );
    }

    #[test]
    fn refuses_ids_that_appear_twice() {
        let good = GOOD;
        assert_eq!(defects(good), "");
        let twice = format!(
            "{good}{}",
            good.split_once("clauses:\n").map_or("", |(_, rest)| rest)
        );
        assert!(defects(&twice).contains("get.yaml:9: `answers` appears twice"));
    }

    #[rstest]
    #[case::behind_the_last(
        "[1, 2]",
        "[1, 2, 4]",
        "get.yaml:3: `answers` names sentence 4 of a section that has 3"
    )]
    #[case::before_the_first("[1, 2]", "[0, 1, 2]", "get.yaml:3: `answers` names sentence 0")]
    #[case::disordered("[1, 2]", "[2, 1]", "names sentences twice or not in their order")]
    #[case::repeated("[1, 2]", "[1, 1, 2]", "names sentences twice or not in their order")]
    #[case::none(
        "[1, 2]",
        "[]",
        "get.yaml:3: `answers` has level `rule` but names no sentence"
    )]
    #[case::one_left_out(
        "[1, 2]",
        "[1]",
        "engine.sentences.yaml: Versioning, sentence 2: has neither"
    )]
    #[case::explained_too(
        "[1, 2]",
        "[1, 2, 3]",
        "Versioning, sentence 3: has both a clause and an explanation"
    )]
    fn refuses_clauses_whose_sentences_are_not_there(
        #[case] from: &str,
        #[case] to: &str,
        #[case] expected: &str,
    ) {
        let found = defects(&GOOD.replace(from, to));
        assert!(
            found.contains(expected),
            "{to}: expected {expected:?}, got {found:?}"
        );
    }

    #[rstest]
    #[case::no_reason("reason: ''", "Versioning, sentence 3: needs either")]
    #[case::reason_and_repetition(
        "reason: r, repeats: {section: Versioning, sentence: 1}",
        "sentence 3: needs either"
    )]
    #[case::repeats_itself(
        "repeats: {section: Versioning, sentence: 3}",
        "repeats a sentence that has no clause"
    )]
    #[case::repeats_another_section(
        "repeats: {section: Version, sentence: 1}",
        "repeats a sentence that has no clause"
    )]
    #[case::twice(
        "reason: r}, {sentence: 3, reason: r",
        "Versioning, sentence 3: is listed twice"
    )]
    #[case::behind_the_last(
        "reason: r}, {sentence: 4, reason: r",
        "Versioning, sentence 4: the section has only 3 sentences"
    )]
    #[case::unknown_field(
        "because: r",
        "engine.sentences.yaml: sections[29].without_clause[0]: unknown field"
    )]
    fn refuses_explanations_of_sentences_that_explain_nothing(
        #[case] explained: &str,
        #[case] expected: &str,
    ) {
        let found = defects_of(GOOD, &sentences(Document::Engine, explained));
        assert!(
            found.contains(expected),
            "{explained}: expected {expected:?}, got {found:?}"
        );
    }

    #[test]
    fn explanations_fit_the_sections_of_the_document() {
        let good = "repeats: {section: Versioning, sentence: 1}";
        assert_eq!(defects_of(GOOD, &sentences(Document::Engine, good)), "");
        let renamed = sentences(Document::Engine, "reason: r").replace("Limits\n", "Limit\n");
        assert!(defects_of(GOOD, &renamed).contains("the sections are not those of the engine"));
        assert!(defects_of(GOOD, "sections: []").contains("the sections are not those"));
    }
}
