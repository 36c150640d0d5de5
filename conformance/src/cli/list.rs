//! `conformance list`: the rules, as lines or with their scenarios as data.

use std::collections::HashMap;
use std::io::Write;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::rule_selection::Choice;
use super::{Failed, catalogue};
use crate::assets::SNAPSHOTS;
use crate::catalogue::{Catalogue, Clause};
use crate::rules;
use crate::scenario::Scenario;

/// The command line of `list`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Rules: ids, id prefixes such as `engine/v1/data`, globs, @FILE; all without one
    #[arg(value_name = "RULE")]
    rules: Vec<String>,
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

/// A clause with what shows it.
#[derive(Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    clause: &'a Clause,
    /// Whether its scenario is still to be written.
    pending: bool,
    scenario: Option<Scenario>,
    /// The expected transcript.
    snapshot: Option<&'static str>,
}

/// Shows the chosen rules.
pub(super) fn list(arguments: &Arguments, out: &mut dyn Write) -> Result<u8, Failed> {
    let catalogue = catalogue()?;
    let choice = Choice::of(catalogue, &arguments.rules, &[])?;
    let entries = entries(catalogue, &choice);
    match arguments.format {
        Format::Text => {
            for entry in entries {
                let shown = match (&entry.scenario, entry.pending) {
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
                let level = level.to_string();
                writeln!(out, "{level:5} {capability:14} {shown:9} {id}")?;
            }
        }
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &entries).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(0)
}

fn entries<'a>(catalogue: &'a Catalogue, choice: &Choice) -> Vec<Entry<'a>> {
    let snapshots: HashMap<_, _> = SNAPSHOTS.iter().copied().collect();
    let clauses = choice.ids.iter().filter_map(|id| catalogue.clause(id));
    clauses
        .map(|clause| {
            let scenario = rules::scenario(&clause.id);
            Entry {
                pending: scenario.is_none() && catalogue.pending(&clause.capability),
                scenario,
                snapshot: snapshots.get(clause.id.as_str()).copied(),
                clause,
            }
        })
        .collect()
}
