//! Cache of the analysis that depends only on policy, query and unknowns.

use std::sync::{Arc, Mutex, PoisonError};

use super::unknowns::References;
use crate::eval::Prepared;
use crate::hash::HashMap;
use crate::syntax::{Term, Var};

/// So many searches with different unknowns, or at the same time, leave something.
const MAX_KEPT: usize = 8;

/// So many names are kept.
const MAX_NAMES: usize = 1000;

/// What a search has found out. Addresses are those of nodes of the policy and of the query,
/// which stay where they are as long as the query does.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    unknowns: References,
    hold: bool,
    /// Whether expressions and terms depend on something unknown, by their addresses.
    pub(super) dependent: HashMap<usize, bool>,
    /// The same of the rules of a place.
    pub(super) rules: HashMap<usize, bool>,
    /// Whether the modifiers of expressions replace all that is unknown.
    pub(super) replaced: HashMap<usize, bool>,
    /// Expressions in the form that is evaluated.
    pub(super) prepared: HashMap<usize, Arc<Prepared>>,
    /// References into unknown parts of the input as terms of a residual, by the addresses and
    /// the lengths of those they come from; none for others.
    pub(super) inputs: HashMap<(usize, usize), Option<Arc<Term>>>,
    /// Generated variables in the order of their numbers.
    pub(super) names: Vec<Var>,
}

impl Analysis {
    /// Nothing yet. `hold` tells whether functions that are not deterministic count as unknown.
    pub(super) fn new(unknowns: &References, hold: bool) -> Self {
        Self {
            unknowns: unknowns.clone(),
            hold,
            ..Self::default()
        }
    }
}

/// What the searches of one query have left. Each takes it for itself while it lasts.
#[derive(Debug, Default)]
pub(super) struct AnalysisPool(Mutex<Vec<Analysis>>);

impl AnalysisPool {
    /// What an earlier search with the same unknowns left.
    pub(super) fn take(&self, unknowns: &References, hold: bool) -> Analysis {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |kept: &Analysis| kept.hold == hold && kept.unknowns == *unknowns;
        match all.iter().rposition(fits) {
            Some(place) => all.remove(place),
            None => Analysis::new(unknowns, hold),
        }
    }

    /// Keeps what a search leaves; what was left long ago makes room.
    pub(super) fn put(&self, mut kept: Analysis) {
        kept.names.truncate(MAX_NAMES);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_KEPT {
            all.remove(0);
        }
        all.push(kept);
    }
}
