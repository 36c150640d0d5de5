//! The cases that the crate does not meet, and why.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// Reasons, each with its cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Unmet {
    #[serde(default)]
    unmet: Vec<Reason>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    reason: String,
    /// Ids of cases; one that ends in `/*` stands for a whole folder.
    cases: Vec<String>,
}

impl Unmet {
    /// Reads the list.
    pub(super) fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        Ok(toml::from_str(&fs::read_to_string(path)?)?)
    }

    /// Why a case is not met, if it is listed.
    pub(super) fn reason(&self, id: &str) -> Option<&str> {
        let about = |listed: &String| match listed.strip_suffix('*') {
            Some(folder) => id.starts_with(folder),
            None => listed == id,
        };
        let found = self
            .unmet
            .iter()
            .find(|reason| reason.cases.iter().any(about));
        found.map(|reason| reason.reason.as_str())
    }
}
