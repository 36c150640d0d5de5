//! Runs selected steps of a rule, and prepares a rule to be repeated by hand.

use super::{Chosen, Outcome, Suite};
use crate::judge::transcript::Transcript;
use crate::scenario::Scenario;
use crate::scenario::resource_names::namespace;

/// Inputs for repeating a scenario by hand.
#[derive(Debug)]
pub(crate) struct ManualRun<'a> {
    pub(crate) scenario: &'a Scenario,
    /// The target's address, if known without a start.
    pub(crate) base: Option<String>,
    /// The roles for which the target has tokens.
    pub(crate) roles: Vec<String>,
    pub(crate) ns: String,
    pub(crate) vendor: &'a str,
}

impl Suite {
    /// Judges a chosen rule by only these of its steps, against the same part of the blessed
    /// transcript; none if it is not chosen, or has no scenario or no snapshot.
    pub(crate) fn run_steps(&self, rule: &str, steps: &[usize]) -> Option<Outcome> {
        let chosen = self.chosen(rule)?;
        let mut expected = Transcript::parse(chosen.snapshot.as_deref()?);
        let mut scenario = chosen.scenario.clone()?;
        expected.steps = only(expected.steps, steps);
        scenario.steps = only(scenario.steps, steps);
        Some(self.judge_alone(&Chosen {
            clause: chosen.clause,
            scenario: Some(scenario),
            snapshot: Some(expected.to_string()),
        }))
    }

    /// Returns the inputs for repeating a chosen rule by hand; none if it has no scenario.
    pub(crate) fn manual_run(&self, rule: &str) -> Option<ManualRun<'_>> {
        let chosen = self.chosen(rule)?;
        let scenario = chosen.scenario.as_ref()?;
        let target = &self.inner.target;
        let launch = target
            .setups
            .get(scenario.setup)?
            .launch(chosen.clause.document)?;
        let mut roles: Vec<String> = launch.tokens.keys().cloned().collect();
        let administrator = "administrator".to_owned();
        let mut client_headers = self.inner.client.headers.iter();
        if client_headers.any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
            && !roles.contains(&administrator)
        {
            roles.push(administrator);
        }
        Some(ManualRun {
            scenario,
            base: launch.url.clone(),
            roles,
            ns: namespace(&self.inner.run, rule),
            vendor: &target.vendor,
        })
    }
}

/// Returns the items at these indices.
fn only<T>(all: Vec<T>, places: &[usize]) -> Vec<T> {
    let numbered = all.into_iter().enumerate();
    numbered
        .filter(|(place, _)| places.contains(place))
        .map(|(_, item)| item)
        .collect()
}
