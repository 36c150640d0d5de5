//! Packs: rules outside the score, which no sentence of the documents states.

use clap::ValueEnum;
use serde::Deserialize;

/// Rules that are played only when they are asked for. The ids of a pack begin with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Pack {
    /// What releases of the real engine are known to have done wrong, to the harm of their users.
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

    /// The pack that an id, a path or a pattern begins with; none where a document's name stands.
    pub fn of(id: &str) -> Option<Self> {
        let first = id.split('/').next()?;
        Self::ALL.into_iter().find(|pack| pack.name() == first)
    }

    /// What its rules are about, for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Regressions => "Regressions of releases",
        }
    }

    /// What a clause of the pack may name as its place.
    pub(super) fn sections(self) -> &'static [&'static str] {
        match self {
            Self::Regressions => &[
                "Built-in functions",
                "Bundles",
                "Compilation",
                "Evaluation",
                "Server",
            ],
        }
    }
}
