//! Language cases that are known to fail, with reasons.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// List of reasons, each with the cases that fail for it.
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
    /// Ids of cases; a trailing `/*` matches a whole folder.
    cases: Vec<String>,
}

impl Unmet {
    /// Reads the list from a file.
    pub(super) fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        Ok(toml::from_str(&fs::read_to_string(path)?)?)
    }

    /// Returns the reason why a case is known to fail, if it is listed.
    pub(super) fn reason(&self, id: &str) -> Option<&str> {
        let found = self
            .unmet
            .iter()
            .find(|reason| reason.cases.iter().any(|listed| is_about(listed, id)));
        found.map(|reason| reason.reason.as_str())
    }

    /// Returns the entries that match no case.
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
