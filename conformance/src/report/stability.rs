//! Stability: whether repeated runs have the same verdicts.

use serde::Serialize;

/// Results of several runs on a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stability {
    /// Number of runs.
    pub rounds: usize,
    /// Rules with varying results.
    pub moved: Vec<Flaky>,
}

/// A rule with varying results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flaky {
    /// Rule id.
    pub rule: String,
    /// Outcome of the rule in each run, in order.
    pub outcomes: Vec<&'static str>,
    /// The first differing line of the results, as in the first run.
    pub first: String,
    /// The same line as in another run.
    pub other: String,
}

impl Stability {
    /// Formats the result for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        if self.moved.is_empty() {
            return vec![format!("{} runs have the same results", self.rounds)];
        }
        let moved = self.moved.iter().flat_map(|moved| {
            [
                format!("VERDICT {}: {}", moved.rule, moved.outcomes.join(", ")),
                format!("  {}", moved.first),
                format!("  {}", moved.other),
            ]
        });
        moved.collect()
    }
}
