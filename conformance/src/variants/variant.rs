//! Variants as data (`variants/PATH.yaml`).

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{FOLDER, LIST};
use crate::assets::VARIANTS;
use crate::catalogue::pattern::Pattern;
use crate::faults::{Alteration, FileError, Recipient, entries, texts_below};

/// A server that responds differently from the reference, as the documents allow.
#[derive(Debug)]
pub struct Variant {
    /// `PATH/NAME`, where `PATH.yaml` is its file.
    pub id: String,
    /// Behaviour of the variant, as a sentence.
    pub does: String,
    /// The statement of a document that allows the behaviour, or the point on which all are silent.
    pub allowed_by: String,
    /// Rules that need not run on the variant or may be blocked, with the point on which the
    /// documents are silent.
    stops: Vec<(Pattern, String)>,
    pub(crate) changes: Vec<Alteration>,
}

/// A variant as written in its file: with one alteration, or with several in `changes`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct VariantFile {
    variant: String,
    does: String,
    allowed_by: String,
    #[serde(default)]
    stops: BTreeMap<String, String>,
    #[serde(default)]
    changes: Vec<Map<String, Value>>,
    #[serde(flatten)]
    change: Map<String, Value>,
}

impl Variant {
    /// Reads the variants of one file; `path` is its path below `variants/`, without extension.
    ///
    /// # Errors
    /// Invalid YAML or shape, an unknown key, a variant without effect, with a repeated name or
    /// without a permission, a bad pattern.
    pub fn parse(path: &str, text: &str) -> Result<Vec<Self>, FileError> {
        entries(FOLDER, "variant", path, text, |value| {
            let entry = serde_json::from_value(value).map_err(|error| error.to_string())?;
            Self::read(path, entry)
        })
    }

    /// Returns the embedded variants.
    ///
    /// # Errors
    /// A file has a defect.
    pub fn embedded() -> Result<Vec<Self>, FileError> {
        let files = VARIANTS.iter().filter(|(path, _)| *path != LIST);
        let variants: Result<Vec<_>, _> =
            files.map(|(path, text)| Self::parse(path, text)).collect();
        Ok(variants?.into_iter().flatten().collect())
    }

    /// Reads the variants of every `PATH.yaml` below a folder.
    ///
    /// # Errors
    /// A file cannot be read or has a defect.
    pub fn below(folder: &Path) -> Result<Vec<Self>, FileError> {
        let files = texts_below(FOLDER, folder)?;
        let variants: Result<Vec<_>, _> = files
            .iter()
            .map(|(path, text)| Self::parse(path, text))
            .collect();
        Ok(variants?.into_iter().flatten().collect())
    }

    fn read(path: &str, entry: VariantFile) -> Result<Self, String> {
        if entry.does.trim().is_empty() || entry.allowed_by.trim().is_empty() {
            return Err("`does` or `allowed-by` is empty".to_owned());
        }
        let changes = match (entry.changes.is_empty(), entry.change.is_empty()) {
            (true, _) => vec![entry.change],
            (false, true) => entry.changes,
            (false, false) => {
                return Err("`changes` cannot be combined with other changes".to_owned());
            }
        };
        let api = Recipient::of_path(path).ok();
        Ok(Self {
            id: format!("{path}/{}", entry.variant),
            does: entry.does,
            allowed_by: entry.allowed_by,
            stops: entry
                .stops
                .into_iter()
                .map(|(rules, silence)| {
                    let rules = Pattern::parse(&rules).map_err(|error| error.to_string())?;
                    Ok((rules, silence))
                })
                .collect::<Result<_, String>>()?,
            changes: changes
                .into_iter()
                .map(|change| Alteration::read(change, api))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns the silence of the documents that allows a rule not to run on the variant, if any.
    pub(crate) fn silence(&self, rule: &str) -> Option<&str> {
        let mut stops = self.stops.iter();
        let (_, silence) = stops.find(|(rules, _)| rules.matches(rule))?;
        Some(silence)
    }
}
