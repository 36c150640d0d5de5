//! Modes: the effects a run may have on its target.

use clap::ValueEnum;
use serde::Deserialize;

use crate::scenario::Effect;

/// Permitted effects of a run on its target; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Only look: no request but GET, HEAD and OPTIONS
    ReadOnly,
    /// Also write, and remove, things under names of the run's own
    Additive,
    /// Also touch what others see
    Full,
}

impl Mode {
    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Additive => "additive",
            Self::Full => "full",
        }
    }

    /// Whether scenarios of this effect may run.
    pub(super) fn allows(self, effect: Effect) -> bool {
        match self {
            Self::ReadOnly => effect == Effect::Reads,
            Self::Additive => effect <= Effect::AddsOwn,
            Self::Full => true,
        }
    }
}
