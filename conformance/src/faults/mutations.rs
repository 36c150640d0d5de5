//! Results of mutants.

use std::collections::{BTreeMap, BTreeSet};

/// What the mutants of every rule's answers showed. A mutant is one change of one kind of answer,
/// `GET /v1/data 200: without /result`; it is detected when one rule at least fails with it.
#[derive(Debug)]
pub struct Mutations {
    /// By rule: how many changes of its own answers were tried, and how many it noticed.
    scores: BTreeMap<String, (usize, usize)>,
    detected: BTreeSet<String>,
    survivors: BTreeSet<String>,
    /// Rules that need more than their exchanges to be judged.
    left_out: Vec<String>,
}

impl Mutations {
    /// From the changes of each rule's answers, and whether it noticed.
    pub(crate) fn of(tried: BTreeMap<String, Option<Vec<(String, bool)>>>) -> Self {
        let (mut detected, mut all) = (BTreeSet::new(), BTreeSet::new());
        let (mut scores, mut left_out) = (BTreeMap::new(), Vec::new());
        for (rule, tried) in tried {
            let Some(tried) = tried else {
                left_out.push(rule);
                continue;
            };
            let noticed = tried.iter().filter(|(_, noticed)| *noticed).count();
            scores.insert(rule, (tried.len(), noticed));
            for (mutant, noticed) in tried {
                if noticed {
                    detected.insert(mutant.clone());
                }
                all.insert(mutant);
            }
        }
        Self {
            scores,
            survivors: all.difference(&detected).cloned().collect(),
            detected,
            left_out,
        }
    }

    /// By rule: how many changes of its own answers were tried, and how many it noticed.
    pub fn scores(&self) -> &BTreeMap<String, (usize, usize)> {
        &self.scores
    }

    /// How many mutants some rule noticed.
    pub fn detected(&self) -> usize {
        self.detected.len()
    }

    /// The mutants that no rule noticed.
    pub fn survivors(&self) -> &BTreeSet<String> {
        &self.survivors
    }

    /// Rules that need more than their exchanges to be judged; no mutant of theirs was tried.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}
