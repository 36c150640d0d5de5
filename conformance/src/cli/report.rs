//! `conformance report EVIDENCE`: reports from stored evidence, without traffic.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::evidence_file::{judged, read};
use super::known_lists::Lists;
use super::options::Colour;
use super::{Console, Failed};
use crate::diff::Comparison;
use crate::evidence;
use crate::report::{self, Digest, FileReport, Format, Paint};
use crate::run::Suite;

/// The command line of `report`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
    #[command(flatten)]
    evidence: EvidenceArgs,
}

/// Other tasks on evidence.
#[derive(Debug, Subcommand)]
enum Task {
    /// Judge evidence again by the rules of this program, without any traffic
    Judge(EvidenceArgs),
    /// Show where two runs, or two servers, differ: verdicts, records of open clauses, and answers
    /// that no rule covers, with a clause to start from; exit code 1 for the first two
    Diff {
        /// Evidence of the first run
        first: PathBuf,
        /// Evidence of the other
        other: PathBuf,
        /// Evidence of a further run of one of the two targets: differences between runs of one
        /// target are ignored
        #[arg(long, value_name = "EVIDENCE")]
        again: Vec<PathBuf>,
    },
    /// Join the evidence of shards into one
    Merge {
        /// Evidence of each shard
        #[arg(required = true)]
        shards: Vec<PathBuf>,
        /// File that the joined evidence is written to
        #[arg(long, value_name = "FILE")]
        output: PathBuf,
    },
}

/// Evidence, and what is made of it.
#[derive(Debug, Args)]
struct EvidenceArgs {
    /// Evidence that runs wrote with `--report ndjson=PATH`; of several, html makes one page
    #[arg(value_name = "EVIDENCE")]
    evidence: Vec<PathBuf>,
    /// Report to write, FORMAT=PATH; formats are badge, html, json, junit, markdown and tap
    #[arg(long, value_name = "FORMAT=PATH")]
    report: Vec<FileReport>,
    /// Known deviations of the target, instead of those that the program knows
    #[arg(long, value_name = "FILE")]
    known_failing: Option<PathBuf>,
    /// Rules that the target keeps on some runs and breaks on others
    #[arg(long, value_name = "FILE")]
    known_flaky: Option<PathBuf>,
    /// Colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

/// Runs the requested task on evidence.
pub(super) fn report(arguments: &Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    match &arguments.task {
        None => show(&arguments.evidence, false, console),
        Some(Task::Judge(evidence)) => show(evidence, true, console),
        Some(Task::Diff {
            first,
            other,
            again,
        }) => diff(first, other, again, console),
        Some(Task::Merge { shards, output }) => merge(shards, output, console),
    }
}

/// Reports where two runs differ; the exit code is 1 if rules or recorded behaviour differ.
fn diff(
    first: &Path,
    other: &Path,
    again: &[PathBuf],
    console: &mut Console<'_>,
) -> Result<u8, Failed> {
    let read = |path: &Path| digest(path, &Lists::default(), false);
    let runs = [read(first)?, read(other)?];
    let mut more = [Vec::new(), Vec::new()];
    for path in again {
        let run = read(path)?;
        let same = runs.each_ref().map(|known| is_same_target(known, &run));
        match (same, &mut more) {
            ([true, false], [first, _]) => first.push(run),
            ([false, true], [_, other]) => other.push(run),
            ([true, true], _) => {
                let message = "both runs are of its target, so it does not tell one from the other";
                return Err(Failed::at(path, &message));
            }
            ([false, false], _) => return Err(Failed::at(path, &"neither run is of its target")),
        }
    }
    let comparison = Comparison::of(&runs, &more);
    for line in comparison.lines() {
        writeln!(console.out, "{line}")?;
    }
    Ok(u8::from(comparison.differs()))
}

fn is_same_target(one: &Digest, other: &Digest) -> bool {
    let target = |digest: &Digest| {
        let target = &digest.started.as_ref()?.target;
        Some((
            target.name.clone(),
            target.version.clone(),
            target.engine.clone(),
            target.control.clone(),
        ))
    };
    target(one) == target(other)
}

/// Merges the events of several runs into one.
fn merge(shards: &[PathBuf], output: &Path, console: &mut Console<'_>) -> Result<u8, Failed> {
    let runs = shards.iter().map(|path| read(path));
    let merged = evidence::merge(runs.collect::<Result<_, _>>()?);
    let merged = merged.map_err(Failed::usage)?;
    let lines = merged.iter().map(evidence::Event::line);
    let lines: Vec<String> = lines.collect::<Result<_, _>>().map_err(Failed::usage)?;
    fs::write(output, lines.join("\n") + "\n").map_err(|error| Failed::at(output, &error))?;
    writeln!(console.out, "{} runs in {}", shards.len(), output.display())?;
    Ok(0)
}

/// Shows the evidence and writes the reports; the exit code is that of the first run that is
/// not conformant, if any.
fn show(arguments: &EvidenceArgs, rejudge: bool, console: &mut Console<'_>) -> Result<u8, Failed> {
    if arguments.evidence.is_empty() {
        return Err(Failed::usage("no evidence is given"));
    }
    let has_format = |format| {
        arguments
            .report
            .iter()
            .any(|report| report.format == format)
    };
    if has_format(Format::Ndjson) {
        return Err(Failed::usage(
            "evidence cannot be made from evidence; use another format",
        ));
    }
    if arguments.evidence.len() > 1 {
        if arguments
            .report
            .iter()
            .any(|report| report.format != Format::Html)
        {
            return Err(Failed::usage(
                "of several runs only html makes one report; give one evidence file",
            ));
        }
        if arguments.known_failing.is_some() || arguments.known_flaky.is_some() {
            return Err(Failed::usage(
                "--known-failing and --known-flaky are of one target; give one evidence file",
            ));
        }
    }
    let lists = Lists {
        failing: arguments.known_failing.as_deref(),
        flaky: arguments.known_flaky.as_deref(),
    };
    let digests = arguments
        .evidence
        .iter()
        .map(|path| digest(path, &lists, rejudge))
        .collect::<Result<Vec<_>, _>>()?;
    let paint = Paint(arguments.color.is_enabled(console.colour));
    for digest in &digests {
        write!(console.out, "{}", report::terminal(digest, paint))?;
    }
    for report in &arguments.report {
        report::write(&digests, report).map_err(|error| Failed::at(&report.path, &error))?;
    }
    let codes = digests.iter().map(|digest| digest.conclusion().exit_code());
    Ok(codes
        .into_iter()
        .find(|code| *code != 0)
        .unwrap_or_default())
}

/// Returns the digest of an evidence file, with the known deviations of the target. The evidence is
/// judged again if `rejudge` is set.
fn digest(path: &Path, lists: &Lists<'_>, rejudge: bool) -> Result<Digest, Failed> {
    let mut events = read(path)?;
    if rejudge {
        events = Suite::judge_again(events).map_err(|error| Failed::at(path, &error))?;
    }
    let target = judged(&events, path)?;
    let known = lists.known(&target.name, target.version.as_deref())?;
    Ok(Digest::of(events, &known, &[]))
}
