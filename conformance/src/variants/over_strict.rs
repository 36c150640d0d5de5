//! Rules known to demand more than their document (`variants/known.toml`).

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::{FOLDER, LIST};
use crate::assets::VARIANTS;
use crate::catalogue::pattern::Pattern;
use crate::faults::FileError;

/// Rules that fail on a permitted variant, and why they still do.
#[derive(Debug, Default)]
pub struct OverStrict {
    pub(super) entries: Vec<Entry>,
}

/// Some rules and the variants on which they fail.
#[derive(Debug)]
pub(super) struct Entry {
    variant: Pattern,
    rules: Pattern,
    pub(super) reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct OverStrictFile {
    #[serde(default)]
    over_strict: Vec<WrittenEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEntry {
    variants: Vec<String>,
    rules: Vec<String>,
    reason: String,
}

impl OverStrict {
    /// Parses the list.
    ///
    /// # Errors
    /// Invalid TOML or shape, a bad pattern, an entry without a reason.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let failed = |message: String| FileError::new(FOLDER, format!("{LIST}.toml"), message);
        let file: OverStrictFile =
            toml::from_str(text).map_err(|error| failed(error.to_string()))?;
        let mut entries = Vec::new();
        for entry in file.over_strict {
            if entry.reason.trim().is_empty() {
                return Err(failed(format!(
                    "empty `reason` of the entry for {}",
                    entry.rules.join(", ")
                )));
            }
            let pattern =
                |text: &String| Pattern::parse(text).map_err(|error| failed(error.to_string()));
            for variant in &entry.variants {
                for rules in &entry.rules {
                    entries.push(Entry {
                        variant: pattern(variant)?,
                        rules: pattern(rules)?,
                        reason: entry.reason.clone(),
                    });
                }
            }
        }
        Ok(Self { entries })
    }

    /// Returns the embedded list.
    ///
    /// # Errors
    /// The list has a defect.
    pub fn embedded() -> Result<Self, FileError> {
        let text = VARIANTS.iter().find(|(path, _)| *path == LIST);
        text.map_or_else(|| Ok(Self::default()), |(_, text)| Self::parse(text))
    }

    /// Reads the list in a folder of variants; without a file, the list is empty.
    ///
    /// # Errors
    /// The list cannot be read or has a defect.
    pub fn below(folder: &Path) -> Result<Self, FileError> {
        let file = folder.join(LIST).with_extension("toml");
        if !file.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&file)
            .map_err(|error| FileError::new(FOLDER, format!("{LIST}.toml"), error.to_string()))?;
        Self::parse(&text)
    }

    /// Returns the reason why a rule fails on a variant, if it is known.
    pub(super) fn reason(&self, variant: &str, rule: &str) -> Option<&str> {
        let mut entries = self.entries.iter();
        let entry = entries.find(|entry| entry.concerns(variant, rule))?;
        Some(&entry.reason)
    }
}

impl Entry {
    pub(super) fn concerns(&self, variant: &str, rule: &str) -> bool {
        self.variant.matches(variant) && self.rules.matches(rule)
    }

    pub(super) fn name(&self) -> String {
        format!("{} on {}", self.rules.text(), self.variant.text())
    }
}
