//! From syntax trees to a policy that can be evaluated: the stages, in the order they run.
//!
//! A stage looks at every touched module before the next stage begins, and the first stage that
//! finds mistakes is the last to run, so that mistakes do not breed others.

use crate::error::LanguageError;
use crate::syntax::{Module, Var};

/// A module on its way through the stages.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Its tree, rewritten by each stage.
    pub(crate) module: Module,
    /// The names that authors wrote, by the generated variables that took their place.
    pub(crate) written: Vec<(Var, Var)>,
    /// The number of the next generated variable.
    pub(crate) next_local: usize,
}

/// Mistakes of a stage.
pub(crate) type Found = Vec<LanguageError>;
