//! Faults as data (`faults/PATH.yaml`, in the order of the clauses).

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::alteration::Alteration;
use super::files::{self, FileError};
use super::matcher::Recipient;
use crate::assets::FAULTS;
use crate::catalogue::pattern::Pattern;

/// A way to break rules: which exchanges of a server it touches, and how it changes them.
#[derive(Debug)]
pub struct Fault {
    /// `PATH/NAME`, where `PATH.yaml` is its file.
    pub id: String,
    /// Behaviour of the server with the fault, as a sentence.
    pub breaks: String,
    /// Ids of the rules that must notice the fault.
    pub kills: Vec<String>,
    /// Rules of other files that notice the fault too.
    also: Vec<Pattern>,
    /// Rules that may notice the fault, depending on what other rules leave on the server
    /// meanwhile.
    sometimes: Vec<Pattern>,
    pub(crate) alteration: Alteration,
}

/// A fault as written in its file.
#[derive(Debug, Deserialize)]
struct FaultFile {
    fault: String,
    breaks: String,
    kills: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    sometimes: Vec<String>,
    #[serde(flatten)]
    alteration: Map<String, Value>,
}

impl Fault {
    /// Reads the faults of one file; `path` is its path below `faults/`, without extension.
    ///
    /// # Errors
    /// Invalid YAML or shape, an unknown key, a fault without effect or with a repeated name, a bad
    /// pattern.
    pub fn parse(path: &str, text: &str) -> Result<Vec<Self>, FileError> {
        files::entries("faults", "fault", path, text, |value| {
            let entry = serde_json::from_value(value).map_err(|error| error.to_string())?;
            Self::read(path, entry)
        })
    }

    /// Returns the embedded faults.
    ///
    /// # Errors
    /// A file has a defect.
    pub fn embedded() -> Result<Vec<Self>, FileError> {
        let files = FAULTS.iter().map(|(path, text)| Self::parse(path, text));
        Ok(files
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect())
    }

    /// Looks up an embedded fault by id.
    ///
    /// # Errors
    /// The fault's file has a defect.
    #[cfg(feature = "embedded")]
    pub(crate) fn carried(id: &str) -> Result<Option<Self>, FileError> {
        let file = id.rsplit_once('/').map_or("", |(file, _)| file);
        let Some((path, text)) = FAULTS.iter().find(|(path, _)| *path == file) else {
            return Ok(None);
        };
        let faults = Self::parse(path, text)?;
        Ok(faults.into_iter().find(|fault| fault.id == id))
    }

    /// Reads the faults of every `PATH.yaml` below a folder.
    ///
    /// # Errors
    /// A file cannot be read or has a defect.
    pub fn below(folder: &Path) -> Result<Vec<Self>, FileError> {
        let mut faults = Vec::new();
        for (path, text) in files::texts_below("faults", folder)? {
            faults.extend(Self::parse(&path, &text)?);
        }
        faults.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(faults)
    }

    fn read(path: &str, entry: FaultFile) -> Result<Self, String> {
        if entry.kills.is_empty() {
            return Err("`kills` is empty: expected at least one rule".to_owned());
        }
        let api = Recipient::of_path(path)?;
        Ok(Self {
            id: format!("{path}/{}", entry.fault),
            breaks: entry.breaks,
            kills: entry
                .kills
                .into_iter()
                .map(|rule| match rule.contains('/') {
                    true => rule,
                    false => format!("{path}/{rule}"),
                })
                .collect(),
            also: patterns(&entry.also)?,
            sometimes: patterns(&entry.sometimes)?,
            alteration: Alteration::read(entry.alteration, Some(api))?,
        })
    }

    /// Whether this rule may notice the fault: the fault is aimed at the rule, is in the same file,
    /// or lists the rule in `also` or `sometimes`.
    pub fn concerns(&self, rule: &str) -> bool {
        let file = |id: &str| id.rsplit_once('/').map(|(file, _)| file.to_owned());
        self.kills.iter().any(|aimed| aimed == rule)
            || file(&self.id) == file(rule)
            || self.also.iter().any(|pattern| pattern.matches(rule))
            || self.sometimes.iter().any(|pattern| pattern.matches(rule))
    }

    /// Patterns of the rules of other files that notice the fault.
    pub fn also(&self) -> &[Pattern] {
        &self.also
    }
}

fn patterns(texts: &[String]) -> Result<Vec<Pattern>, String> {
    let pattern = |text: &String| Pattern::parse(text).map_err(|error| error.to_string());
    texts.iter().map(pattern).collect()
}
