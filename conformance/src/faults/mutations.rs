//! Results of mutants.

use std::collections::{BTreeMap, BTreeSet};

/// Results of the mutants of all responses. A mutant is one change of one kind of response, such as
/// `GET /v1/data 200: without /result`; it is detected if a rule fails with it.
#[derive(Debug)]
pub struct Mutations {
    /// By rule: number of tested and of noticed changes of the rule's responses.
    scores: BTreeMap<String, (usize, usize)>,
    detected: BTreeSet<String>,
    survivors: BTreeSet<String>,
    /// Rules that need more than their exchanges to be judged.
    left_out: Vec<String>,
}

impl Mutations {
    /// Collects the results of each rule: the changes of its responses, each with whether the rule
    /// noticed. `None` stands for a rule that is left out.
    pub(crate) fn of(results: BTreeMap<String, Option<Vec<(String, bool)>>>) -> Self {
        let (mut detected, mut all) = (BTreeSet::new(), BTreeSet::new());
        let (mut scores, mut left_out) = (BTreeMap::new(), Vec::new());
        for (rule, changes) in results {
            let Some(changes) = changes else {
                left_out.push(rule);
                continue;
            };
            let noticed = changes.iter().filter(|(_, noticed)| *noticed).count();
            scores.insert(rule, (changes.len(), noticed));
            for (mutant, noticed) in changes {
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

    /// By rule: number of tested and of noticed changes of the rule's responses.
    pub fn scores(&self) -> &BTreeMap<String, (usize, usize)> {
        &self.scores
    }

    /// Number of mutants that some rule noticed.
    pub fn detected(&self) -> usize {
        self.detected.len()
    }

    /// Mutants that no rule noticed.
    pub fn survivors(&self) -> &BTreeSet<String> {
        &self.survivors
    }

    /// Rules that need more than their exchanges to be judged; none of their mutants was tested.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}
