//! Tally: results of the clients of a soak test.

use std::collections::BTreeMap;
use std::fmt;

/// Results of one client, or the sum of several with the same name.
#[derive(Debug, Default)]
pub(super) struct ClientResults {
    pub(super) name: &'static str,
    pub(super) milliseconds: Vec<f64>,
    /// Ids of the decisions that the client received.
    pub(super) ids: Vec<String>,
    /// Number of decisions without an id in the response; their ids are only in the decision log.
    pub(super) unnamed: usize,
}

impl ClientResults {
    /// Adds up the results with the same name.
    pub(super) fn by_name(tallies: Vec<Self>) -> Vec<Self> {
        let mut all: BTreeMap<&str, Self> = BTreeMap::new();
        for tally in tallies {
            let total = all.entry(tally.name).or_default();
            total.name = tally.name;
            total.milliseconds.extend(tally.milliseconds);
            total.ids.extend(tally.ids);
            total.unnamed += tally.unnamed;
        }
        all.into_values().collect()
    }
}

impl fmt::Display for ClientResults {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut times = self.milliseconds.clone();
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(0.0);
        write!(
            to,
            "{}: {} answers as they must be, p50 {:.1} ms, p99 {:.1} ms",
            self.name,
            times.len(),
            at(50),
            at(99)
        )
    }
}
