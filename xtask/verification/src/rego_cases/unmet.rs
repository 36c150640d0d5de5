//! Cases that are not met, with reasons.

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
        let found = self
            .unmet
            .iter()
            .find(|reason| reason.cases.iter().any(|listed| is_about(listed, id)));
        found.map(|reason| reason.reason.as_str())
    }

    /// What is listed and is about no case.
    pub(super) fn idle(&self, ids: &[String]) -> Vec<&str> {
        let listed = self.unmet.iter().flat_map(|reason| &reason.cases);
        let idle = listed.filter(|listed| !ids.iter().any(|id| is_about(listed, id)));
        idle.map(String::as_str).collect()
    }
}

fn is_about(listed: &str, id: &str) -> bool {
    match listed.strip_suffix('*') {
        Some(folder) => id.starts_with(folder),
        None => listed == id,
    }
}
