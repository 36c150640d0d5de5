//! Merges the evidence of several runs.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::{Event, RunFinished, RunStarted, TargetSummary};

/// One of the runs that merged evidence consists of, such as a shard. Each may have had a separate
/// server, at another address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedRun {
    /// The run's name.
    pub run: String,
    /// Address of the control plane, if known before the start of the run.
    pub control: Option<String>,
    /// Address of the engine, likewise.
    pub engine: Option<String>,
    /// Rules that this run chose and no earlier part did.
    pub rules: Vec<String>,
}

/// Why runs cannot be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotOneRun {
    #[error("no run starts in the evidence")]
    Nothing,
    #[error("the runs are not of one target by one profile")]
    OtherTarget,
}

impl RunStarted {
    /// Returns the part that chose a rule, with its index; none for evidence of one run.
    pub(crate) fn part(&self, rule: &str) -> Option<(usize, &MergedRun)> {
        let mut parts = self.parts.iter().enumerate();
        parts.find(|(_, part)| part.rules.iter().any(|one| one == rule))
    }

    /// Name of the run that judged a rule.
    pub(crate) fn run_of(&self, rule: &str) -> &str {
        self.part(rule).map_or(&self.run, |(_, part)| &part.run)
    }

    /// Checks that the parts, if any, chose exactly the rules of the run, each in one part.
    ///
    /// # Errors
    /// A message that describes the violation.
    pub(super) fn check_parts(&self) -> Result<(), String> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let mut remaining: BTreeSet<&str> =
            self.chosen.iter().map(|one| one.rule.as_str()).collect();
        for rule in self.parts.iter().flat_map(|part| &part.rules) {
            if !remaining.remove(rule.as_str()) {
                return Err(format!("{rule} was not chosen, or by two parts"));
            }
        }
        match remaining.first() {
            Some(rule) => Err(format!("{rule} was selected in none of the merged runs")),
            None => Ok(()),
        }
    }

    /// Returns the parts of a run, or the run itself as the only part if it is not merged.
    fn into_parts(self) -> Vec<MergedRun> {
        if !self.parts.is_empty() {
            return self.parts;
        }
        vec![MergedRun {
            run: self.run,
            control: self.target.control,
            engine: self.target.engine,
            rules: self.chosen.into_iter().map(|one| one.rule).collect(),
        }]
    }

    /// Whether another run has the same target and profile.
    fn is_as(&self, other: &Self) -> bool {
        let target = |target: &TargetSummary| {
            let TargetSummary {
                name,
                vendor,
                version,
                ..
            } = target.clone();
            (name, vendor, version)
        };
        target(&self.target) == target(&other.target) && self.profile == other.profile
    }
}

/// Merges the events of several runs, shards of one or successive runs, into those of one run,
/// with the chosen rules in the order of the documents, the longest time, and all requests.
///
/// # Errors
/// The events contain no start of a run, or the runs have different targets.
pub(crate) fn merge(runs: Vec<Vec<Event>>) -> Result<Vec<Event>, NotOneRun> {
    let (mut starts, mut end) = (Vec::new(), None::<RunFinished>);
    let mut between = Vec::new();
    for event in runs.into_iter().flatten() {
        match event {
            Event::RunStarted(started) => starts.push(*started),
            Event::RunFinished(finished) => match &mut end {
                None => end = Some(finished),
                Some(merged) => {
                    merged.milliseconds = merged.milliseconds.max(finished.milliseconds);
                    merged.requests += finished.requests;
                    merged.interrupted |= finished.interrupted;
                    merged.not_compared.extend(finished.not_compared);
                    merged.unreachable = merged.unreachable.take().or(finished.unreachable);
                }
            },
            other => between.push(other),
        }
    }
    let start = start(starts)?;
    let events = std::iter::once(Event::RunStarted(Box::new(start))).chain(between);
    Ok(events.chain(end.map(Event::RunFinished)).collect())
}

/// Merges the start events of several runs into one.
fn start(starts: Vec<RunStarted>) -> Result<RunStarted, NotOneRun> {
    let mut merged = starts.first().cloned().ok_or(NotOneRun::Nothing)?;
    if starts.len() == 1 {
        return Ok(merged);
    }
    if !starts.iter().all(|started| started.is_as(&merged)) {
        return Err(NotOneRun::OtherTarget);
    }
    merged.chosen = starts.iter().flat_map(|one| one.chosen.clone()).collect();
    let order: HashMap<String, usize> = crate::rules::ids().zip(0..).collect();
    let position = |rule: &str| order.get(rule).copied().unwrap_or(usize::MAX);
    merged.chosen.sort_by(|one, other| {
        (position(&one.rule), &one.rule).cmp(&(position(&other.rule), &other.rule))
    });
    merged.chosen.dedup_by(|one, other| one.rule == other.rule);
    let mut known = BTreeSet::new();
    let parts = starts.into_iter().flat_map(RunStarted::into_parts);
    merged.parts = parts
        .map(|mut part| {
            part.rules.retain(|rule| known.insert(rule.clone()));
            part
        })
        .collect();
    Ok(merged)
}
