//! Profile results: the required and optional rules of a profile that a target passes.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use super::{Digest, Row};
use crate::catalogue::Profile;
use crate::evidence::ProfileRef;
use crate::report::capability::Score;

/// Result of a run by a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProfileResult {
    /// The profile.
    #[serde(flatten)]
    pub profile: ProfileRef,
    /// Score of the rules that the profile requires.
    pub must: Score,
    /// Score of the rules that the profile recommends.
    pub should: Score,
}

impl ProfileResult {
    /// Computes the result of these rows by a profile.
    pub fn of<'a>(profile: &Profile, rows: impl Iterator<Item = &'a Row>) -> Self {
        let proven = rows.filter(|row| row.is_proven());
        let proven: HashSet<&str> = proven.map(|row| row.judged.rule.as_str()).collect();
        let score = |ids: &[String]| Score {
            proven: ids.iter().filter(|id| proven.contains(id.as_str())).count(),
            rules: ids.len(),
        };
        Self {
            profile: profile.into(),
            must: score(&profile.must),
            should: score(&profile.should),
        }
    }

    /// Name and edition of the profile.
    pub fn title(&self) -> String {
        format!("{} {}", self.profile.name, self.profile.edition)
    }
}

/// Formats the result as in `engine-decision 2026.12: 41 of 41; should: 90 of 117`.
impl fmt::Display for ProfileResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Score { proven, rules } = self.must;
        write!(f, "{}: {proven} of {rules}", self.title())?;
        match self.should {
            Score { rules: 0, .. } => Ok(()),
            Score { proven, rules } => write!(f, "; should: {proven} of {rules}"),
        }
    }
}

impl Digest {
    /// Returns the result by the profile of the run; none without a known profile.
    pub fn standing(&self) -> Option<ProfileResult> {
        Some(ProfileResult::of(self.profile?, self.rows.iter()))
    }

    /// Number of required rules of the profile that were not judged.
    pub(super) fn undecided(&self) -> usize {
        let must = self.profile.iter().flat_map(|profile| &profile.must);
        let judged: HashSet<&str> = self
            .rows
            .iter()
            .filter(|row| row.reason().is_none())
            .map(|row| row.judged.rule.as_str())
            .collect();
        must.filter(|id| !judged.contains(id.as_str())).count()
    }
}
