//! `cargo xtask kill-matrix`: injects all faults and mutants into the reference, and compares the
//! rules that notice with the recorded ones.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;

use conformance::Suite;
use conformance::client_conformance::{Rules, kill_matrix};
use conformance::faults::{Fault, Mutations, TrivialServer};
use conformance::target::Target;
use serde::Deserialize;

use crate::{report, root};

/// Minimum percentage of mutants that a rule must notice, of those whose effect the documents
/// cover.
const DETECTED: usize = 95;

/// Surviving mutants, with reasons.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Survivors {
    survivor: Vec<Survivor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Survivor {
    mutants: Vec<String>,
    reason: String,
    /// Whether the documents do not cover the changed responses, so that no rule can notice these
    /// mutants, which do not count for the percentage.
    #[serde(default)]
    beyond_document: bool,
}

/// Fills the matrix, tries the mutants and judges trivial servers. With `bless`, writes the matrix
/// instead of comparing it.
pub(crate) fn run(bless: bool) -> Result<(), Box<dyn Error>> {
    matrix(bless)?;
    clients(bless)?;
    mutants()?;
    vacuity()
}

fn suite() -> Result<Suite, Box<dyn Error>> {
    let suite = Suite::builder(Target::embedded()?).for_selftest();
    Ok(suite.build()?)
}

fn unsound(broken: Vec<String>) -> String {
    format!("does not hold without a fault: {}", broken.join(", "))
}

fn matrix(bless: bool) -> Result<(), Box<dyn Error>> {
    let suite = Suite::builder(Target::embedded()?).with_packs();
    let suite = suite.for_selftest().build()?;
    let matrix = suite.kill_matrix(Fault::embedded()?).map_err(unsound)?;
    let file = root().join("faults/kill-matrix.txt");
    if bless {
        fs::write(&file, matrix.to_string())?;
    }
    let findings = matrix.findings();
    for finding in &findings {
        report("finding", finding);
    }
    let (noticing, rules) = (matrix.detecting().len(), matrix.rules());
    let faults = matrix.faults();
    report(
        "kill matrix",
        &format!(
            "{noticing} of {rules} rules notice a fault that is aimed at them, {faults} faults"
        ),
    );
    if !findings.is_empty() {
        return Err("the faults and the rules do not fit".into());
    }
    if aimed(&fs::read_to_string(&file)?) != aimed(&matrix.to_string()) {
        return Err(
            "faults/kill-matrix.txt says otherwise; read what `--bless` changes in it".into(),
        );
    }
    Ok(())
}

/// Fills the matrix of the rules for clients on the model client. The rules that notice a fault
/// without being its target are determined only when the matrix is written, as that takes some
/// minutes.
fn clients(bless: bool) -> Result<(), Box<dyn Error>> {
    let rules = Rules::embedded()?;
    let count = rules.all().len();
    let matrix = kill_matrix(rules, bless)?;
    let file = root().join("conformance/clients/kill-matrix.txt");
    if bless {
        fs::write(&file, &matrix.text)?;
    }
    for finding in &matrix.findings {
        report("finding", finding);
    }
    report("kill matrix of clients", &format!("{count} rules"));
    if !matrix.findings.is_empty() {
        return Err("the faults of clients and their rules do not fit".into());
    }
    if aimed(&fs::read_to_string(&file)?) != aimed(&matrix.text) {
        return Err("conformance/clients/kill-matrix.txt says otherwise".into());
    }
    Ok(())
}

/// Returns the lines of the matrix with a fault and the rules that it targets. The other rules that
/// notice a fault are checked against the fault's stated scope, as they vary on servers that
/// scenarios share.
fn aimed(matrix: &str) -> Vec<&str> {
    let other = |line: &&str| line.starts_with("  ");
    matrix.lines().filter(|line| !other(line)).collect()
}

fn mutants() -> Result<(), Box<dyn Error>> {
    let mutations = suite()?.mutants(false).map_err(unsound)?;
    let Explained {
        explained,
        beyond_document,
    } = explained(&mutations)?;
    let (detected, survivors) = (mutations.detected(), mutations.survivors().len());
    let all = detected + survivors;
    report(
        "mutants",
        &format!(
            "{detected} of {all} are noticed by a rule, {explained} explained, of which the \
             document says nothing of {beyond_document}"
        ),
    );
    for rule in mutations.left_out() {
        report("not tried", rule);
    }
    if !mutations.left_out().is_empty() {
        return Err("not every rule can be judged by its exchanges".into());
    }
    if detected * 100 < (all - beyond_document) * DETECTED {
        return Err(format!("fewer than {DETECTED} % of the mutants are noticed").into());
    }
    Ok(())
}

/// Number of survivors with a reason, and how many of these the documents do not cover.
struct Explained {
    explained: usize,
    beyond_document: usize,
}

/// Checks that the list of survivors contains exactly the mutants that survived.
fn explained(mutations: &Mutations) -> Result<Explained, Box<dyn Error>> {
    let text = fs::read_to_string(root().join("faults/survivors.toml"))?;
    let known: Survivors = toml::from_str(&text)?;
    let (mut listed, mut beyond_document) = (BTreeSet::new(), 0);
    for survivor in known.survivor {
        if survivor.reason.trim().is_empty() {
            return Err(format!(
                "empty `reason` of the entry for {}",
                survivor.mutants.join(", ")
            )
            .into());
        }
        if survivor.beyond_document {
            beyond_document += survivor.mutants.len();
        }
        listed.extend(survivor.mutants);
    }
    let survivors = mutations.survivors();
    for mutant in survivors.difference(&listed) {
        report("survives without a reason", mutant);
    }
    for mutant in listed.difference(survivors) {
        report("listed in faults/survivors.toml, but noticed", mutant);
    }
    match *survivors == listed {
        true => Ok(Explained {
            explained: listed.len(),
            beyond_document,
        }),
        false => Err("faults/survivors.toml does not list the survivors".into()),
    }
}

/// Judges the trivial servers, on which no rule may pass.
fn vacuity() -> Result<(), Box<dyn Error>> {
    let target = Target::embedded()?;
    let mut holding = BTreeSet::new();
    for server in TrivialServer::ALL {
        let found = Suite::vacuity(&target, server)?;
        let (passed, run) = (found.holding.len(), found.run);
        report(server.name(), &format!("{passed} of {run} rules pass"));
        holding.extend(found.holding);
    }
    for rule in &holding {
        report("says nothing", rule);
    }
    match holding.is_empty() {
        true => Ok(()),
        false => Err("rules pass on trivial servers".into()),
    }
}
