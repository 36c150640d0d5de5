//! Lists of known deviations and flaky rules of a target, each with its reason.
//!
//! ```toml
//! [[deviation]]                            # `[[flaky]]` in a list of flaky rules
//! rule = "engine/v1/data/put/some-rule"    # an id, a path above ids, or a glob
//! reason = "What the target does instead, and why."
//! clause = "What the document says, and where."              # optional, as all that follows
//! issue = "https://example.org/issues/1"
//! expires = 2030-01-31                     # the last day on which the entry holds
//! when = { target = "opa", version = ">=1.6, <1.13", setup = "default" }
//! ```
//!
//! A list belongs to a target, not to the suite. To keep lists honest, a listed rule that passes
//! fails the run, and so does an expired entry. A flaky rule may pass or fail, and never counts as
//! proven.

pub mod condition;
pub(crate) mod text;

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;
use semver::Version;
use serde::Deserialize;

use crate::assets::KNOWN;
use crate::catalogue::pattern::{Pattern, PatternError};
use crate::known_deviations::condition::AppliesTo;
use crate::rules;

/// Reason in a generated list, until somebody writes one.
pub const PLACEHOLDER: &str = "TODO: say why";

/// Known deviations and flaky rules of one target.
#[derive(Debug, Clone, Default)]
pub struct KnownList {
    entries: Vec<Entry>,
    /// Index of the entry that applies to each rule.
    index: HashMap<String, usize>,
    stale: Vec<String>,
}

#[derive(Debug, Clone)]
struct Entry {
    kind: Kind,
    file: String,
    /// Whether the list is embedded in the program.
    carried: bool,
    known: Deviation,
    /// Ids of the rules that the entry covers.
    ids: Vec<String>,
}

/// Kind of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The target fails the listed rules.
    Failing,
    /// The target passes the listed rules on some runs and fails them on others.
    Flaky,
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// The rules: an id, a path above ids, or a glob.
    pub rule: String,
    /// Actual behaviour of the target, and its cause.
    pub reason: String,
    /// Statement of the document, and its place there.
    pub clause: Option<String>,
    /// Issue that tracks the deviation.
    pub issue: Option<String>,
    /// Last day on which the entry is valid, in UTC.
    #[serde(default, deserialize_with = "condition::day")]
    pub expires: Option<NaiveDate>,
    /// Conditions of the entry; without any it always applies.
    pub when: Option<AppliesTo>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    deviation: Vec<Deviation>,
    #[serde(default)]
    flaky: Vec<Deviation>,
}

/// An unusable list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnownError {
    /// Not TOML, an unknown key, a missing value.
    #[error("{0}: {1}")]
    Toml(String, Box<toml::de::Error>),
    /// Entries of the other kind.
    #[error("{0}: contains [[{1}]] entries; pass this file with {2}")]
    Kind(String, &'static str, &'static str),
    /// An entry with an empty value.
    #[error("{0}: the `{2}` of `{1}` is empty")]
    Empty(String, String, &'static str),
    /// An entry whose reason is still a placeholder.
    #[error(
        "{0}: the `reason` of `{1}` is still to be written; `conformance baseline check {0}` names every such rule"
    )]
    Placeholder(String, String),
    /// An entry that matches no rule.
    #[error("{0}: {1}")]
    Pattern(String, PatternError),
    /// An entry for a setup that none of its rules needs.
    #[error("{0}: no rule of `{1}` needs the setup `{2}`")]
    Setup(String, String, String),
    /// A rule that is listed both as failing and as flaky.
    #[error("{0}: `{1}` is on the list of known deviations too")]
    Both(String, String),
    /// An entry for some versions, if the target's version is not known.
    #[error(
        "{0}: `{1}` depends on the target's version, which is not known; pass --target-version"
    )]
    NoVersion(String, String),
    /// The target's version is invalid.
    #[error("invalid version `{0}`: expected one such as 1.18.2")]
    Version(String),
}

impl Kind {
    /// Returns the name of the kind's TOML table, and the flag that accepts its files.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Failing => ("deviation", "--known-failing"),
            Self::Flaky => ("flaky", "--known-flaky"),
        }
    }

    /// Returns the kind of a list; a list without entries is one of known deviations.
    pub fn of(text: &str) -> Self {
        match toml::from_str::<toml::Table>(text) {
            Ok(table) if table.contains_key("flaky") => Self::Flaky,
            _ => Self::Failing,
        }
    }

    /// Reads the entries without checking their contents; `file` is its name in errors.
    ///
    /// # Errors
    /// Invalid TOML, unknown keys, missing values, entries of the other kind.
    pub fn read(self, text: &str, file: &str) -> Result<Vec<Deviation>, KnownError> {
        let read = File::read(text, file)?;
        let (own, other, kind) = match self {
            Self::Failing => (read.deviation, read.flaky, Self::Flaky),
            Self::Flaky => (read.flaky, read.deviation, Self::Failing),
        };
        if other.is_empty() {
            Ok(own)
        } else {
            let (table, flag) = kind.names();
            Err(KnownError::Kind(file.to_owned(), table, flag))
        }
    }
}

impl File {
    fn read(text: &str, file: &str) -> Result<Self, KnownError> {
        toml::from_str(text).map_err(|e| KnownError::Toml(file.to_owned(), Box::new(e)))
    }
}

impl KnownList {
    /// Parses a list of known deviations; `file` is its name in errors, `ids` are all existing
    /// rules.
    ///
    /// # Errors
    /// Unknown keys, empty values, reasons still to be written, and entries that match no rule.
    pub fn parse<'a>(
        text: &str,
        file: &str,
        ids: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Self, KnownError> {
        Self::default().and(Kind::Failing, text, file, ids)
    }

    /// Adds a further list.
    ///
    /// # Errors
    /// See [`KnownList::parse`]; a rule that is known both as failing and as flaky.
    pub fn and<'a>(
        mut self,
        kind: Kind,
        text: &str,
        file: &str,
        ids: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Self, KnownError> {
        let entries = kind.read(text, file)?;
        self.extend(kind, entries, file, ids)?;
        Ok(self)
    }

    fn extend<'a>(
        &mut self,
        kind: Kind,
        entries: Vec<Deviation>,
        file: &str,
        ids: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(), KnownError> {
        for known in entries {
            let entry = Entry::of(kind, file, known, ids.clone())?;
            for id in &entry.ids {
                match self.index.get(id).and_then(|at| self.entries.get(*at)) {
                    Some(other) if other.kind != kind => {
                        return Err(KnownError::Both(file.to_owned(), id.clone()));
                    }
                    Some(_) => {}
                    None => drop(self.index.insert(id.clone(), self.entries.len())),
                }
            }
            self.entries.push(entry);
        }
        Ok(())
    }

    /// Returns the embedded list for a target; empty if there is none. One file contains both kinds
    /// of entries.
    ///
    /// # Errors
    /// See [`KnownList::parse`].
    pub fn embedded<'a>(
        target: &str,
        ids: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Self, KnownError> {
        let mut list = Self::default();
        if let Some((_, text)) = KNOWN.iter().find(|(name, _)| *name == target) {
            let file = format!("known/{target}.toml");
            let read = File::read(text, &file)?;
            list.extend(Kind::Failing, read.deviation, &file, ids.clone())?;
            list.extend(Kind::Flaky, read.flaky, &file, ids)?;
            for entry in &mut list.entries {
                entry.carried = true;
            }
        }
        Ok(list)
    }

    /// Selects the entries that apply to a target of this name and version on a day. Entries that
    /// have expired are [stale](KnownList::stale) and excuse nothing.
    ///
    /// # Errors
    /// The version is invalid, or unknown although an entry depends on it.
    pub fn on(
        mut self,
        target: &str,
        version: Option<&str>,
        day: NaiveDate,
    ) -> Result<Self, KnownError> {
        let version = version
            .map(|text| {
                condition::version(text).ok_or_else(|| KnownError::Version(text.to_owned()))
            })
            .transpose()?;
        let mut applying = HashSet::new();
        for (place, entry) in self.entries.iter().enumerate() {
            if !entry.applies(target, version.as_ref())? {
                continue;
            }
            match entry.expired(day) {
                Some(stale) => self.stale.push(stale),
                None => drop(applying.insert(place)),
            }
        }
        // If several entries apply to a rule, the first counts.
        self.index.clear();
        for (place, entry) in self.entries.iter().enumerate() {
            for id in entry.ids.iter().filter(|_| applying.contains(&place)) {
                self.index.entry(id.clone()).or_insert(place);
            }
        }
        Ok(self)
    }

    /// Returns the rules of entries whose reason is still a placeholder.
    ///
    /// # Errors
    /// See [`Kind::read`].
    pub fn unwritten(kind: Kind, text: &str, file: &str) -> Result<Vec<String>, KnownError> {
        let entries = kind.read(text, file)?.into_iter();
        let open = entries.filter(|known| known.reason.trim() == PLACEHOLDER);
        Ok(open.map(|known| known.rule).collect())
    }

    /// Describes all entries that have expired on a day, wherever they apply.
    pub fn expired(&self, day: NaiveDate) -> Vec<String> {
        self.entries
            .iter()
            .filter_map(|entry| entry.expired(day))
            .collect()
    }

    /// Descriptions of entries that are no longer valid.
    pub fn stale(&self) -> &[String] {
        &self.stale
    }

    /// The entry for a rule that is known to fail.
    pub fn deviation(&self, id: &str) -> Option<&Deviation> {
        self.entry(id, Kind::Failing)
    }

    /// The user's file that lists a rule; none for an embedded list.
    pub fn file(&self, id: &str) -> Option<&str> {
        let entry = self.entries.get(*self.index.get(id)?)?;
        (!entry.carried).then_some(entry.file.as_str())
    }

    /// The entry for a rule that is known to be flaky.
    pub fn flaky(&self, id: &str) -> Option<&Deviation> {
        self.entry(id, Kind::Flaky)
    }

    fn entry(&self, id: &str, kind: Kind) -> Option<&Deviation> {
        let entry = self.entries.get(*self.index.get(id)?)?;
        (entry.kind == kind).then_some(&entry.known)
    }
}

impl Deviation {
    /// Whether the entry applies to this target in this version; `None` if that depends on a
    /// version that is not known.
    pub(crate) fn applies(&self, target: &str, version: Option<&Version>) -> Option<bool> {
        let Some(when) = &self.when else {
            return Some(true);
        };
        if when.target.as_deref().is_some_and(|name| name != target) {
            return Some(false);
        }
        match (&when.version, version) {
            (None, _) => Some(true),
            (Some(versions), Some(version)) => Some(versions.contain(version)),
            (Some(_), None) => None,
        }
    }
}

impl Entry {
    fn of<'a>(
        kind: Kind,
        file: &str,
        known: Deviation,
        ids: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<Self, KnownError> {
        let rule = || known.rule.clone();
        let texts = [
            ("reason", Some(&known.reason)),
            ("clause", known.clause.as_ref()),
            ("issue", known.issue.as_ref()),
        ];
        for (name, text) in texts {
            if text.is_some_and(|text| text.trim().is_empty()) {
                return Err(KnownError::Empty(file.to_owned(), rule(), name));
            }
        }
        if known.reason.trim() == PLACEHOLDER {
            return Err(KnownError::Placeholder(file.to_owned(), rule()));
        }
        let mut ids =
            named(&known, ids).map_err(|error| KnownError::Pattern(file.to_owned(), error))?;
        if let Some(setup) = known.when.as_ref().and_then(|when| when.setup.as_deref()) {
            ids.retain(|id| rules::scenario(id).is_some_and(|scenario| scenario.setup == setup));
            if ids.is_empty() {
                return Err(KnownError::Setup(file.to_owned(), rule(), setup.to_owned()));
            }
        }
        Ok(Self {
            kind,
            file: file.to_owned(),
            carried: false,
            known,
            ids,
        })
    }

    fn applies(&self, target: &str, version: Option<&Version>) -> Result<bool, KnownError> {
        self.known.applies(target, version).ok_or_else(|| {
            let (file, rule) = (self.file.clone(), self.known.rule.clone());
            KnownError::NoVersion(file, rule)
        })
    }

    fn expired(&self, day: NaiveDate) -> Option<String> {
        let last = self.known.expires.filter(|last| *last < day)?;
        let (file, rule) = (&self.file, &self.known.rule);
        Some(format!("{file}: the entry for `{rule}` expired on {last}"))
    }
}

/// Returns the rules that an entry names.
///
/// # Errors
/// The pattern is not a valid glob, or matches no rule.
pub fn named<'a>(
    known: &Deviation,
    ids: impl Iterator<Item = &'a str> + Clone,
) -> Result<Vec<String>, PatternError> {
    let pattern = Pattern::parse(&known.rule)?;
    pattern.check(ids.clone())?;
    let matching = ids.filter(|id| pattern.matches(id));
    Ok(matching.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests;
