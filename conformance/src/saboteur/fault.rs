//! Faults: how a server breaks a rule, as data (`faults/PATH.yaml`, in the order of the clauses).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::Value;

use super::change::{AnswerChange, Reply, RequestChange};
use super::select::{Answered, Asked, Goal, On};
use crate::embedded_files::FAULTS;
use crate::pattern::Pattern;

/// A way to break rules: which exchanges of a server it touches, and what it does to them.
#[derive(Debug)]
pub struct Fault {
    /// `PATH/NAME`, where `PATH.yaml` is the file that it stands in.
    pub id: String,
    /// What the broken server does, as a sentence.
    pub breaks: String,
    /// The rules that must notice it, by id.
    pub kills: Vec<String>,
    /// Rules outside its own file that may notice it too.
    also: Vec<Pattern>,
    pub(super) on: Vec<On>,
    pub(super) asked: Asked,
    pub(super) answered: Answered,
    pub(super) request: Vec<RequestChange>,
    pub(super) reply: Option<Reply>,
    pub(super) answer: Vec<AnswerChange>,
}

/// A fault as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    fault: String,
    breaks: String,
    kills: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
    on: OneOrMany,
    #[serde(default)]
    asked: Asked,
    #[serde(default)]
    answered: Answered,
    #[serde(default)]
    request: Vec<RequestChange>,
    reply: Option<Reply>,
    #[serde(default)]
    answer: Vec<AnswerChange>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// A file of faults that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("faults/{file}.yaml: {what}")]
pub struct FaultError {
    file: String,
    what: String,
}

impl Fault {
    /// Reads the faults of one file; `path` is the file's path below `faults/`, without ending.
    ///
    /// # Errors
    /// No YAML of this shape, an unknown key, a fault that does nothing or stands twice, a bad
    /// pattern.
    pub fn parse(path: &str, text: &str) -> Result<Vec<Self>, FaultError> {
        let failed = |what: String| FaultError {
            file: path.to_owned(),
            what,
        };
        let written: Vec<Value> =
            serde_yaml::from_str(text).map_err(|error| failed(error.to_string()))?;
        let mut faults: Vec<Self> = Vec::with_capacity(written.len());
        for one in written {
            let name = one.get("fault").cloned().unwrap_or_default();
            let fault = serde_json::from_value(one)
                .map_err(|error| error.to_string())
                .and_then(|one| Self::read(path, one))
                .map_err(|what| failed(format!("{name}: {what}")))?;
            if faults.iter().any(|known| known.id == fault.id) {
                return Err(failed(format!("{name} stands twice")));
            }
            faults.push(fault);
        }
        Ok(faults)
    }

    /// The faults that the program carries.
    ///
    /// # Errors
    /// A file has a defect.
    pub fn embedded() -> Result<Vec<Self>, FaultError> {
        let files = FAULTS.iter().map(|(path, text)| Self::parse(path, text));
        Ok(files
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect())
    }

    /// The faults of every `PATH.yaml` below a folder.
    ///
    /// # Errors
    /// A file cannot be read or has a defect.
    pub fn below(folder: &Path) -> Result<Vec<Self>, FaultError> {
        let mut faults = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(next) = open.pop() {
            let shown = next.strip_prefix(folder).unwrap_or(&next);
            let path = shown
                .with_extension("")
                .to_string_lossy()
                .replace('\\', "/");
            let failed = |error: std::io::Error| FaultError {
                file: path.clone(),
                what: error.to_string(),
            };
            if next.is_dir() {
                for entry in fs::read_dir(&next).map_err(failed)? {
                    open.push(entry.map_err(failed)?.path());
                }
            } else if next.extension().is_some_and(|ending| ending == "yaml") {
                let text = fs::read_to_string(&next).map_err(failed)?;
                faults.extend(Self::parse(&path, &text)?);
            }
        }
        faults.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(faults)
    }

    fn read(path: &str, written: Written) -> Result<Self, String> {
        let idle = written.request.is_empty() && written.answer.is_empty();
        if written.reply.is_some() && !(idle && written.answered == Answered::default()) {
            return Err("with a reply the server is not asked, so nothing else can be".to_owned());
        }
        if written.reply.is_none() && idle {
            return Err("it does nothing".to_owned());
        }
        if written.kills.is_empty() {
            return Err("it is aimed at no rule".to_owned());
        }
        let api = Goal::of_path(path)?;
        let on = match written.on {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        };
        Ok(Self {
            id: format!("{path}/{}", written.fault),
            breaks: written.breaks,
            kills: written
                .kills
                .into_iter()
                .map(|rule| match rule.contains('/') {
                    true => rule,
                    false => format!("{path}/{rule}"),
                })
                .collect(),
            also: written
                .also
                .iter()
                .map(|text| Pattern::parse(text).map_err(|error| error.to_string()))
                .collect::<Result<_, _>>()?,
            on: on
                .iter()
                .map(|text| On::parse(text, api))
                .collect::<Result<_, _>>()?,
            asked: written.asked,
            answered: written.answered,
            request: written.request,
            reply: written.reply,
            answer: written.answer,
        })
    }

    /// Whether this rule may notice the fault: it is aimed at, stands in the fault's own file, or
    /// the fault says so.
    pub fn concerns(&self, rule: &str) -> bool {
        let file = |id: &str| id.rsplit_once('/').map(|(file, _)| file.to_owned());
        self.kills.iter().any(|aimed| aimed == rule)
            || file(&self.id) == file(rule)
            || self.also.iter().any(|pattern| pattern.matches(rule))
    }

    /// The patterns of rules outside its own file that may notice it.
    pub fn also(&self) -> &[Pattern] {
        &self.also
    }
}

/// A glob over texts: `*` stands for anything.
#[derive(Debug, Clone)]
pub(super) struct Glob(GlobMatcher);

impl Glob {
    /// # Errors
    /// The text is no glob.
    pub(super) fn parse(text: &str, across: bool) -> Result<Self, String> {
        let glob = GlobBuilder::new(text).literal_separator(!across).build();
        glob.map(|glob| Self(glob.compile_matcher()))
            .map_err(|error| format!("`{text}` is no valid glob: {}", error.kind()))
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.0.glob() == other.0.glob()
    }
}

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text, true).map_err(serde::de::Error::custom)
    }
}

/// Values by JSON pointer.
pub(super) type Places = BTreeMap<String, Value>;
