//! Cache of the part of the analysis that depends only on policy, query and unknowns.

use std::sync::{Arc, Mutex, PoisonError};

use super::unknowns::References;
use crate::eval::Prepared;
use crate::hash::HashMap;
use crate::syntax::{Term, Var};

/// Maximum number of analyses cached for a query, for concurrent searches or different unknowns.
const MAX_CACHED: usize = 8;

/// Maximum number of generated variable names that an analysis caches.
const MAX_NAMES: usize = 1000;

/// Analysis of the policy and the query for one set of unknowns. Keys that are addresses point to
/// nodes of the policy and of the query, which do not move while the query exists.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    unknowns: References,
    defer_nondeterministic: bool,
    /// For expressions and terms, by their addresses, whether they depend on something unknown.
    pub(super) dependent: HashMap<usize, bool>,
    /// For rules, by the addresses of their rule sets, whether they depend on something unknown.
    pub(super) rules: HashMap<usize, bool>,
    /// For expressions, by their addresses, whether `with` modifiers replace everything unknown.
    pub(super) replaced: HashMap<usize, bool>,
    /// Expressions prepared for the evaluator, by their addresses.
    pub(super) prepared: HashMap<usize, Arc<Prepared>>,
    /// References into unknown parts of the input as residual terms, by the address and the length
    /// of the source reference; `None` for other references.
    pub(super) inputs: HashMap<(usize, usize), Option<Arc<Term>>>,
    /// Generated variables in the order of their numbers.
    pub(super) names: Vec<Var>,
}

impl Analysis {
    /// Creates an empty analysis. `defer_nondeterministic`: whether nondeterministic functions count
    /// as unknown.
    pub(super) fn new(unknowns: &References, defer_nondeterministic: bool) -> Self {
        Self {
            unknowns: unknowns.clone(),
            defer_nondeterministic,
            ..Self::default()
        }
    }
}

/// Cached analyses of one query. A search takes exclusive ownership of one while it runs.
#[derive(Debug, Default)]
pub(super) struct AnalysisPool(Mutex<Vec<Analysis>>);

impl AnalysisPool {
    /// Removes and returns the newest analysis with the same options, or creates an empty one.
    pub(super) fn take(&self, unknowns: &References, defer_nondeterministic: bool) -> Analysis {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_match = |analysis: &Analysis| {
            analysis.defer_nondeterministic == defer_nondeterministic
                && analysis.unknowns == *unknowns
        };
        match all.iter().rposition(is_match) {
            Some(place) => all.remove(place),
            None => Analysis::new(unknowns, defer_nondeterministic),
        }
    }

    /// Returns an analysis to the cache and evicts the oldest one if the cache is full.
    pub(super) fn put(&self, mut analysis: Analysis) {
        analysis.names.truncate(MAX_NAMES);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_CACHED {
            all.remove(0);
        }
        all.push(analysis);
    }
}
