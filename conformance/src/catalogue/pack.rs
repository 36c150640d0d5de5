//! Packs: rules outside the score, which state no sentence of the documents.

use clap::ValueEnum;
use serde::Deserialize;

/// A set of rules that run only on request. The ids of a pack begin with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Pack {
    /// Regressions: faults that releases of Open Policy Agent had, and that harmed their users.
    Regressions,
}

impl Pack {
    /// Every pack.
    pub const ALL: [Self; 1] = [Self::Regressions];

    /// The pack's name in rule ids and file paths.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regressions => "regressions",
        }
    }

    /// Returns the pack that an id, a path or a pattern begins with, if any.
    pub fn of(id: &str) -> Option<Self> {
        let first = id.split('/').next()?;
        Self::ALL.into_iter().find(|pack| pack.name() == first)
    }

    /// Title: the subject of the pack's rules, for reports.
    pub fn title(self) -> &'static str {
        match self {
            Self::Regressions => "Regressions of releases",
        }
    }

    /// Sections: the values that `section` may have in a clause of the pack.
    pub(super) fn sections(self) -> &'static [&'static str] {
        match self {
            Self::Regressions => &[
                "Built-in functions",
                "Bundles",
                "Compilation",
                "Evaluation",
                "Residuals",
                "Server",
            ],
        }
    }
}
