//! Comparison of targets: verdicts, and behaviour that no rule covers.
//!
//! Targets that pass all rules may still respond differently. Each such location in a response is
//! either recorded by an open clause already, or a draft of an open clause is proposed.

pub(crate) mod answers;
mod clause;
mod covered;
mod group;
pub(crate) mod normalize;
mod requests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::judge::transcript::Transcript;
use crate::judge::verdict::Verdict;
use crate::report::repetitions::Repetitions;
use crate::report::stability::Flaky;
use crate::report::{Digest, Outcome, labels};
use answers::{DifferenceKind, compare_values};
use group::grouped;
use normalize::Normalizer;
use requests::instances;

/// Differences between runs.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// Names of the runs.
    pub(crate) labels: Vec<String>,
    /// Rules with different outcomes.
    pub(crate) moved: Vec<Flaky>,
    /// Facts of open clauses that differ between the runs.
    pub(crate) open: Vec<Open>,
    /// Differences that no rule covers.
    pub(crate) proposals: Vec<Proposal>,
}

/// A fact of an open clause that differs between runs.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) rule: String,
    pub(crate) key: String,
    /// Value of the fact in each run.
    pub(crate) values: Vec<String>,
}

/// JSON path at which responses differ and that no rule covers: a proposal for a clause.
#[derive(Debug)]
pub(crate) struct Proposal {
    /// The path of the clause file.
    pub(crate) file: String,
    pub(crate) place: String,
    pub(crate) kind: DifferenceKind,
    /// First value that each run returned. If it is an object whose members differ: for each run,
    /// the members that no other run has.
    pub(crate) values: Vec<String>,
    pub(crate) members: bool,
    /// Rules whose requests show the difference.
    pub(crate) rules: BTreeSet<String>,
    /// A command that shows the difference, with its rule and step.
    pub(crate) example: String,
    pub(crate) rule: String,
    pub(crate) step: usize,
    /// An open clause that records the same location of the same endpoint.
    pub(crate) recorded: Option<String>,
}

impl Comparison {
    /// Compares runs with all their exchanges. `again` contains, for each run, further runs on the
    /// same target: nothing is proposed where a target's own runs differ.
    pub(crate) fn of(runs: &[Digest], again: &[Vec<Digest>]) -> Self {
        let mut rounds = Repetitions::default();
        for run in runs {
            rounds.add(run);
        }
        let all: Vec<&Digest> = runs.iter().collect();
        let (mut found, mut open) = (instances(&all), recorded(&all));
        for (run, more) in runs.iter().zip(again) {
            for other in more {
                let noise = instances(&[run, other]);
                found.retain(|one| !noise.iter().any(|noise| noise.is_noise_for(one)));
                let noise = recorded(&[run, other]);
                let same =
                    |one: &Open, other: &Open| (&one.rule, &one.key) == (&other.rule, &other.key);
                open.retain(|one| !noise.iter().any(|other| same(one, other)));
            }
        }
        let is_open = |moved: &Flaky| {
            let recorded = Outcome::Recorded.name();
            moved.outcomes.iter().all(|outcome| *outcome == recorded)
        };
        let mut moved = rounds.stability().moved;
        moved.retain(|moved| !is_open(moved));
        Self {
            labels: labels(runs),
            moved,
            proposals: grouped(found, &open),
            open,
        }
    }

    /// Sets the names of the runs.
    pub(crate) fn with_labels(mut self, labels: &[&str]) -> Self {
        self.labels = labels.iter().map(|label| (*label).to_owned()).collect();
        self
    }

    /// Rules whose requests show a difference that no rule covers.
    pub(crate) fn rules(&self) -> BTreeSet<String> {
        let open = self.open.iter().map(|open| open.rule.clone());
        let proposed = self.proposals.iter().flat_map(|one| one.rules.clone());
        open.chain(proposed).collect()
    }

    /// Whether results of rules, or records of open clauses, differ.
    pub(crate) fn differs(&self) -> bool {
        !self.moved.is_empty() || !self.open.is_empty()
    }
}

/// Returns the facts of open clauses that differ.
fn recorded(runs: &[&Digest]) -> Vec<Open> {
    let mut open = Vec::new();
    let Some((first, others)) = runs.split_first() else {
        return open;
    };
    for row in &first.rows {
        let rule = &row.judged.rule;
        let rows = others.iter().map(|run| requests::row(run, rule));
        let rows: Option<Vec<_>> = std::iter::once(Some(row)).chain(rows).collect();
        let Some(rows) = rows.filter(|rows| {
            rows.iter()
                .all(|row| row.judged.verdict == Verdict::Recorded)
        }) else {
            continue;
        };
        let facts_by_run = runs.iter().zip(rows).map(|(run, row)| {
            let normalizer = Normalizer::new(requests::run_name(run, rule), rule);
            facts(&row.judged.transcript, &normalizer)
        });
        let facts_by_run: Vec<BTreeMap<(usize, String), String>> = facts_by_run.collect();
        let keys: BTreeSet<_> = facts_by_run.iter().flat_map(BTreeMap::keys).collect();
        for key in keys {
            let values: Vec<String> = facts_by_run
                .iter()
                .map(|facts| facts.get(key).map_or("<absent>", |value| value).to_owned())
                .collect();
            open.extend(of_fact(rule, &key.1, values));
        }
    }
    open
}

/// Returns where the values of a fact differ; if they are JSON, by location.
fn of_fact(rule: &str, key: &str, values: Vec<String>) -> Vec<Open> {
    if values.iter().all(|value| Some(value) == values.first()) {
        return Vec::new();
    }
    let open = |(key, values): (String, Vec<String>)| Open {
        rule: rule.to_owned(),
        key,
        values,
    };
    let json: Option<Vec<Value>> = values
        .iter()
        .map(|value| serde_json::from_str(value).ok())
        .collect();
    let places = json.map(|json| compare_values(key, &json));
    match places {
        Some(places) => places
            .into_iter()
            .map(|difference| open((difference.place, difference.values)))
            .collect(),
        None => vec![open((key.to_owned(), values))],
    }
}

/// Returns the facts of a transcript by step and key, without run-dependent parts.
fn facts(transcript: &str, normalizer: &Normalizer<'_>) -> BTreeMap<(usize, String), String> {
    let steps = Transcript::parse(transcript).steps;
    let facts = steps.into_iter().enumerate().flat_map(|(step, entry)| {
        let facts = entry.facts.into_iter();
        facts.map(move |fact| (step, fact))
    });
    facts
        .map(|(step, fact)| ((step, fact.key), normalizer.text(&fact.value)))
        .collect()
}
