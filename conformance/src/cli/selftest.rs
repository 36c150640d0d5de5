//! `conformance selftest`: mutation tests of the suite. Injects faults into the embedded reference
//! and shows which rules notice, or varies it as the documents permit and shows that no rule fails.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Console, Failed};
use crate::Suite;
use crate::faults::{Fault, Matrix, Mutations, TrivialServer};
use crate::run::SuiteBuilder;
use crate::target::Target;
use crate::variants::{OverStrict, Variant};

/// The command line of `selftest`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Rules that are tried: ids, id prefixes such as `engine/v1/data`, globs; with the faults of
    /// their files
    #[arg(value_name = "RULE")]
    rules: Vec<String>,
    /// Folder of faults, PATH.yaml below it, instead of those that the program carries
    #[arg(long, value_name = "DIR")]
    faults: Option<PathBuf>,
    /// Mutants of answers instead of the faults: another status, no body, members taken away …
    #[arg(long, conflicts_with_all = ["faults", "matrix"])]
    mutants: bool,
    /// Test trivial servers (empty answers, an echo, …): no rule may pass
    #[arg(long, alias = "vacuity", conflicts_with_all = ["faults", "matrix", "mutants", "rules"])]
    trivial_servers: bool,
    /// Play the rules on servers that answer otherwise, as the documents allow: none may fail.
    /// With a folder, those of PATH.yaml below it instead of those that the program carries
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with_all = ["faults", "matrix", "mutants", "trivial_servers"]
    )]
    variants: Option<Option<PathBuf>>,
    /// File that the matrix is written to: each fault with the rules that notice it
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
}

/// Runs the rules with each fault; the exit code is 0 when every rule notices a fault, and no rule
/// notices one that does not concern it.
pub(super) fn selftest(arguments: &Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    if arguments.trivial_servers {
        return vacuity(console);
    }
    if let Some(folder) = &arguments.variants {
        return variants(&arguments.rules, folder.as_deref(), console);
    }
    let faults = match &arguments.faults {
        Some(folder) => Fault::below(folder).map_err(Failed::usage)?,
        None => Fault::embedded().map_err(Failed::usage)?,
    };
    if arguments.mutants {
        let mutations = suite(&arguments.rules)?.mutants(true).map_err(unsound)?;
        return show_mutants(&mutations, console);
    }
    let suite = match arguments.rules.is_empty() {
        true => builder()?.with_packs().build().map_err(Failed::usage)?,
        false => suite(&arguments.rules)?,
    };
    let matrix = suite.kill_matrix(faults).map_err(unsound)?;
    if let Some(path) = &arguments.matrix {
        fs::write(path, matrix.to_string()).map_err(|error| Failed::at(path, &error))?;
    }
    show(&matrix, console)
}

fn suite(rules: &[String]) -> Result<Suite, Failed> {
    let builder = builder()?.rules(rules.iter().cloned());
    builder.build().map_err(Failed::usage)
}

fn builder() -> Result<SuiteBuilder, Failed> {
    let target = Target::embedded().map_err(Failed::usage)?;
    Ok(Suite::builder(target).for_selftest())
}

/// Runs the rules on every variant; the exit code is 1 when a rule fails that is not known to be
/// over-strict.
fn variants(
    rules: &[String],
    folder: Option<&Path>,
    console: &mut Console<'_>,
) -> Result<u8, Failed> {
    let (variants, known) = match folder {
        Some(folder) => (Variant::below(folder), OverStrict::below(folder)),
        None => (Variant::embedded(), OverStrict::embedded()),
    };
    let (variants, known) = (
        variants.map_err(Failed::usage)?,
        known.map_err(Failed::usage)?,
    );
    let tolerance = suite(rules)?.tolerance(variants, known).map_err(unsound)?;
    write!(console.out, "{tolerance}")?;
    for known in tolerance.known() {
        writeln!(console.out, "known to be over-strict: {known}")?;
    }
    let mut findings = tolerance.findings();
    if rules.is_empty() {
        let idle = tolerance.idle().into_iter();
        findings.extend(idle.map(|id| format!("{id}: no rule sees that it is another server")));
        findings.extend(tolerance.left_over());
    }
    for finding in &findings {
        writeln!(console.out, "{finding}")?;
    }
    writeln!(
        console.out,
        "{} of {} rules hold on every variant; {} variants, {} findings",
        tolerance.tolerant(),
        tolerance.rules(),
        tolerance.rows().len(),
        findings.len()
    )?;
    Ok(u8::from(!findings.is_empty()))
}

/// Judges every trivial server; the exit code is 1 when a rule passes on one.
fn vacuity(console: &mut Console<'_>) -> Result<u8, Failed> {
    let target = Target::embedded().map_err(Failed::usage)?;
    let mut holding = 0;
    for server in TrivialServer::ALL {
        let result = Suite::vacuity(&target, server).map_err(Failed::usage)?;
        for rule in &result.holding {
            writeln!(console.out, "passes on a trivial server: {rule}")?;
        }
        let (name, passed, run) = (server.name(), result.holding.len(), result.run);
        writeln!(console.out, "{name}: {passed} of {run} rules pass")?;
        holding += passed;
    }
    Ok(u8::from(holding > 0))
}

/// Creates the error for rules that already fail without an injected fault.
fn unsound(broken: Vec<String>) -> Failed {
    let broken = broken.join(", ");
    Failed::usage(format!("these rules do not hold without a fault: {broken}"))
}

/// Prints how many mutants each rule notices, and the mutants that no rule notices.
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
