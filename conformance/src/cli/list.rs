//! `conformance list`: the rules, as lines or as data with their scenarios.

use std::collections::HashMap;
use std::io::Write;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::rule_selection::{Choice, profile};
use super::{Failed, catalogue};
use crate::assets::SNAPSHOTS;
use crate::catalogue::{Binding, Catalogue, Clause, Profile};
use crate::rules;
use crate::scenario::Scenario;

/// The command line of `list`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Rules: ids, id prefixes such as `engine/v1/data`, globs, @FILE; all without one
    #[arg(value_name = "RULE")]
    rules: Vec<String>,
    /// The rules of a profile, with their levels
    #[arg(long, value_name = "NAME", conflicts_with = "rules")]
    profile: Option<String>,
    /// The rules that no profile has, which are informational until the next edition
    #[arg(long, alias = "informational", conflicts_with_all = ["rules", "profile"])]
    without_profile: bool,
    /// How to show them
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Lines for people
    Text,
    /// One JSON document for programs
    Json,
}

/// A clause with its binding, scenario and snapshot.
#[derive(Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    clause: &'a Clause,
    /// How binding the listed profile makes the clause; none without a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<Binding>,
    /// Whether the clause's scenario is still to be written.
    pending: bool,
    scenario: Option<Scenario>,
    /// The expected transcript of the scenario.
    snapshot: Option<&'static str>,
}

/// Prints the chosen rules in the requested format.
pub(super) fn list(arguments: &Arguments, out: &mut dyn Write) -> Result<u8, Failed> {
    let catalogue = catalogue()?;
    let of_profile = match &arguments.profile {
        Some(name) => Some(profile(catalogue, name)?),
        None => None,
    };
    let ids = match of_profile {
        Some(profile) => Choice::of_profile(catalogue, profile, &[])?.ids,
        None if arguments.without_profile => {
            let rules = catalogue.in_no_profile();
            rules.map(|clause| clause.id.clone()).collect()
        }
        None => Choice::of(catalogue, &arguments.rules, &[])?.ids,
    };
    let entries = entries(catalogue, &ids, of_profile);
    match arguments.format {
        Format::Text => {
            for entry in entries {
                let state = match (&entry.scenario, entry.pending) {
                    (Some(_), _) => "scenario",
                    (None, true) => "pending",
                    (None, false) => "-",
                };
                let Clause {
                    id,
                    capability,
                    level,
                    ..
                } = entry.clause;
                let level = entry
                    .binding
                    .map_or_else(|| level.to_string(), |binding| binding.to_string());
                writeln!(out, "{level:6} {capability:14} {state:9} {id}")?;
            }
        }
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &entries).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(0)
}

fn entries<'a>(
    catalogue: &'a Catalogue,
    ids: &[String],
    profile: Option<&Profile>,
) -> Vec<Entry<'a>> {
    let snapshots: HashMap<_, _> = SNAPSHOTS.iter().copied().collect();
    let clauses = ids.iter().filter_map(|id| catalogue.clause(id));
    clauses
        .map(|clause| {
            let scenario = rules::scenario(&clause.id);
            Entry {
                pending: scenario.is_none() && catalogue.pending(&clause.capability),
                scenario,
                binding: profile.and_then(|profile| profile.binding(&clause.id)),
                snapshot: snapshots.get(clause.id.as_str()).copied(),
                clause,
            }
        })
        .collect()
}
