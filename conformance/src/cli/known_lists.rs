//! Lists of known deviations and flaky rules that the options name.

use std::fs;
use std::path::Path;

use chrono::Utc;

use super::options::RunOptions;
use super::{Failed, catalogue};
use crate::assets::KNOWN;
use crate::catalogue::Level;
use crate::known_deviations::{Kind, KnownList};

/// Paths of the lists of known deviations and flaky rules of a target.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lists<'a> {
    /// List of known deviations, in place of the embedded one.
    pub(super) failing: Option<&'a Path>,
    /// List of flaky rules.
    pub(super) flaky: Option<&'a Path>,
}

impl<'a> Lists<'a> {
    pub(super) fn of(options: &'a RunOptions) -> Self {
        Self {
            failing: options.known_failing.as_deref(),
            flaky: options.known_flaky.as_deref(),
        }
    }

    /// Reads the known deviations and flaky rules of this target.
    ///
    /// # Errors
    /// A list cannot be used.
    pub(super) fn known(self, target: &str, version: Option<&str>) -> Result<KnownList, Failed> {
        let rules = rules()?;
        let ids = rules.iter().copied();
        let known = match self.failing {
            None => KnownList::embedded(target, ids.clone()).map_err(Failed::usage)?,
            Some(path) => match embedded_name(path) {
                Some(name) => KnownList::embedded(name, ids.clone()).map_err(Failed::usage)?,
                None => add(KnownList::default(), Kind::Failing, path, &rules)?,
            },
        };
        let known = match self.flaky {
            None => known,
            Some(path) => add(known, Kind::Flaky, path, &rules)?,
        };
        known
            .on(target, version, Utc::now().date_naive())
            .map_err(Failed::usage)
    }
}

/// Returns the name of the embedded list that the path names, if no such file exists.
fn embedded_name(path: &Path) -> Option<&'static str> {
    let name = path.to_str().filter(|_| !path.exists())?;
    let mut names = KNOWN.iter().map(|(name, _)| *name);
    names.find(|known| *known == name)
}

/// Returns the rules that a list may name. Clauses that are not judged can neither fail nor be
/// flaky.
pub(super) fn rules() -> Result<Vec<&'static str>, Failed> {
    let clauses = catalogue()?.with_packs();
    let rules = clauses.filter(|clause| clause.level == Level::Rule);
    Ok(rules.map(|clause| clause.id.as_str()).collect())
}

pub(super) fn add(
    list: KnownList,
    kind: Kind,
    path: &Path,
    rules: &[&str],
) -> Result<KnownList, Failed> {
    let text = fs::read_to_string(path).map_err(|error| Failed::at(path, &error))?;
    list.and(
        kind,
        &text,
        &path.display().to_string(),
        rules.iter().copied(),
    )
    .map_err(Failed::usage)
}
