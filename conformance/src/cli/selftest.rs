//! `conformance selftest`: breaks the embedded reference in every way that the faults say, and
//! shows which rules notice.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::{Console, Failed};
use crate::Suite;
use crate::saboteur::{Fault, Matrix, Mutations, Vacuous};
use crate::target::Target;

/// The command line of `selftest`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Rules that are tried: ids, paths above ids, globs; with the faults of their files
    #[arg(value_name = "RULE")]
    rules: Vec<String>,
    /// Folder of faults, PATH.yaml below it, instead of those that the program carries
    #[arg(long, value_name = "DIR")]
    faults: Option<PathBuf>,
    /// Try the general changes of answers instead of the faults: another status, no body, members
    /// taken away …
    #[arg(long, conflicts_with_all = ["faults", "matrix"])]
    mutants: bool,
    /// Judge servers that do nothing instead: no rule may hold
    #[arg(long, conflicts_with_all = ["faults", "matrix", "mutants", "rules"])]
    vacuity: bool,
    /// File that the matrix is written to: each fault with the rules that notice it
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
}

/// Fills the matrix; the exit code is 0 when every rule notices a fault and no rule notices one
/// that does not concern it.
pub(super) fn selftest(arguments: &Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    if arguments.vacuity {
        return vacuity(console);
    }
    let faults = match &arguments.faults {
        Some(folder) => Fault::below(folder).map_err(Failed::usage)?,
        None => Fault::embedded().map_err(Failed::usage)?,
    };
    let suite = Suite::builder(Target::embedded().map_err(Failed::usage)?)
        .rules(arguments.rules.iter().cloned())
        .for_selftest()
        .build()
        .map_err(Failed::usage)?;
    if arguments.mutants {
        let mutations = suite.mutants().map_err(unsound)?;
        return show_mutants(&mutations, console);
    }
    let matrix = suite.kill_matrix(faults).map_err(unsound)?;
    if let Some(path) = &arguments.matrix {
        fs::write(path, matrix.to_string()).map_err(|error| super::report::named(path, &error))?;
    }
    show(&matrix, console)
}

/// Judges every vacuous server; the exit code is 1 when a rule holds on one.
fn vacuity(console: &mut Console<'_>) -> Result<u8, Failed> {
    let target = Target::embedded().map_err(Failed::usage)?;
    let mut holding = 0;
    for server in Vacuous::ALL {
        let found = Suite::vacuity(&target, server).map_err(Failed::usage)?;
        for rule in &found.holding {
            writeln!(console.out, "holds on a server that does nothing: {rule}")?;
        }
        let (name, held, played) = (server.name(), found.holding.len(), found.played);
        writeln!(console.out, "{name}: {held} of {played} rules hold")?;
        holding += held;
    }
    Ok(u8::from(holding > 0))
}

/// Without a server that holds every rule there is nothing to break.
fn unsound(broken: Vec<String>) -> Failed {
    let broken = broken.join(", ");
    Failed::usage(format!("these rules do not hold without a fault: {broken}"))
}

/// Shows which rule notices how many changes of its answers, and what no rule notices.
fn show_mutants(mutations: &Mutations, console: &mut Console<'_>) -> Result<u8, Failed> {
    for (rule, (tried, noticed)) in mutations.scores() {
        writeln!(console.out, "{noticed:3} of {tried:3} {rule}")?;
    }
    for survivor in mutations.survivors() {
        writeln!(console.out, "survives: {survivor}")?;
    }
    for rule in mutations.left_out() {
        writeln!(console.out, "not tried: {rule}")?;
    }
    let all = mutations.detected() + mutations.survivors().len();
    writeln!(
        console.out,
        "{} of {all} mutants are noticed by a rule",
        mutations.detected()
    )?;
    Ok(0)
}

fn show(matrix: &Matrix, console: &mut Console<'_>) -> Result<u8, Failed> {
    let findings = matrix.findings();
    for finding in &findings {
        writeln!(console.out, "{finding}")?;
    }
    writeln!(
        console.out,
        "{} of {} rules notice a fault that is aimed at them; {} faults, {} findings",
        matrix.detecting().len(),
        matrix.rules(),
        matrix.faults(),
        findings.len()
    )?;
    Ok(u8::from(!findings.is_empty()))
}
