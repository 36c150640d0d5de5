//! The strict reader of `specs/edition.toml` and `specs/**.yaml`.

use std::collections::HashMap;

use serde::Deserialize;

use super::{Capability, Catalogue, CatalogueError, Clause, Document, Level, Pack, sections};

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
    level: Level,
    capability: String,
    states: String,
    reason: Option<String>,
}

/// Reads all files and gathers every defect before it gives up.
pub(super) fn catalogue(files: &[(&str, &str)]) -> Result<Catalogue, CatalogueError> {
    let mut defects = Vec::new();
    let mut catalogue = Catalogue::default();
    match files.iter().find(|(path, _)| *path == "edition") {
        Some((_, text)) => edition(text, &mut catalogue, &mut defects),
        None => defects.push("specs/edition.toml: missing".to_owned()),
    }
    for (path, text) in files {
        if *path != "edition" && !path.ends_with(".openapi") {
            clause_file(path, text, &mut catalogue, &mut defects);
        }
    }
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
        return defects.push(format!("{name}:1: the path starts with no document's name"));
    };
    if file.endpoint.is_some() == file.topic.is_some() {
        defects.push(format!("{name}:1: needs either `endpoint` or `topic`"));
    }
    if file.clauses.is_empty() {
        defects.push(format!("{name}:1: holds no clause"));
    }
    let pack = Pack::of(path);
    let places = pack.map_or(sections(document), Pack::sections);
    let lines = clause_lines(text);
    for entry in file.clauses {
        let line = lines.get(entry.id.as_str()).copied().unwrap_or(1);
        let mut defect = |what: String| defects.push(format!("{name}:{line}: {what}"));
        check(&entry, catalogue, &mut defect);
        let id = format!("{path}/{}", entry.id);
        if catalogue.index.contains_key(&id) {
            defect(format!("`{}` appears twice", entry.id));
        }
        let section = places.iter().find(|known| **known == entry.section);
        let Some(section) = section else {
            defect(format!(
                "the {document} document has no section `{}`",
                entry.section
            ));
            continue;
        };
        let clauses = match pack {
            None => &mut catalogue.clauses,
            Some(_) => &mut catalogue.packed,
        };
        catalogue.index.insert(id.clone(), clauses.len());
        clauses.push(Clause {
            id,
            document,
            section,
            level: entry.level,
            capability: entry.capability,
            states: entry.states.trim().to_owned(),
            reason: entry.reason,
            endpoint: file.endpoint.clone(),
            topic: file.topic.clone(),
        });
    }
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
            defect(format!(
                "`{}` is a rule: a reason would excuse nothing",
                entry.id
            ));
        }
        _ => {}
    }
}

/// Lower-case words of letters and digits that start with a letter, joined by single hyphens.
fn kebab_case(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_lowercase())
        && id.split('-').all(|word| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

/// The line on which each clause's `id` stands; the later one where an id stands twice.
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
    use super::*;

    const EDITION: (&str, &str) = (
        "edition",
        "[documents]\ncontrol = 'C'\nengine = 'E'\n[capabilities]\nhealth = { states = 's' }\n",
    );

    fn defects(file: &str) -> String {
        match catalogue(&[EDITION, ("engine/health/get", file)]) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn refuses_what_would_be_lost_with_file_and_line() {
        let good = "endpoint: GET /health\nclauses:\n  - id: answers\n    section: Versioning\n    \
                    level: rule\n    capability: health\n    states: It answers.\n";
        assert_eq!(defects(good), "");
        for (from, to, expected) in [
            ("level: rule", "level: must", "get.yaml:5: "),
            ("level: rule", "levels: rule", "unknown field `levels`"),
            (
                "level: rule",
                "level: unobservable",
                "get.yaml:3: `answers` is unobservable",
            ),
            ("It answers.", "''", "get.yaml:3: `answers` states nothing"),
            (
                "Versioning",
                "Version",
                "get.yaml:3: the engine document has no section `Version`",
            ),
            (
                "capability: health",
                "capability: helth",
                "get.yaml:3: no capability `helth`",
            ),
            (
                "id: answers",
                "id: Answers",
                "get.yaml:3: id `Answers` is not in kebab-case",
            ),
            ("id: answers", "id: answers-", "is not in kebab-case"),
            (
                "endpoint: GET /health",
                "topic: T\nendpoint: E",
                "get.yaml:1: needs either",
            ),
            (
                "states:",
                "reason: r\n    states:",
                "a reason would excuse nothing",
            ),
        ] {
            let found = defects(&good.replace(from, to));
            assert!(
                found.contains(expected),
                "{to}: expected {expected:?}, got {found:?}"
            );
        }
        let twice = format!(
            "{good}{}",
            good.split_once("clauses:\n").map_or("", |(_, rest)| rest)
        );
        assert!(defects(&twice).contains("get.yaml:8: `answers` appears twice"));
    }
}
