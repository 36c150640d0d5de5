//! `conformance report EVIDENCE`: reports from stored events, without any traffic.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::options::Colour;
use super::{Console, Failed, catalogue};
use crate::catalogue::Catalogue;
use crate::evidence::Event;
use crate::known::KnownList;
use crate::report::{self, Digest, FileReport, Format, Paint};

/// The command line of `report`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Evidence that a run wrote with `--report ndjson=PATH`
    #[arg(value_name = "EVIDENCE")]
    evidence: PathBuf,
    /// Report to write, FORMAT=PATH; formats are json and junit
    #[arg(long, value_name = "FORMAT=PATH")]
    report: Vec<FileReport>,
    /// Known deviations of the target, instead of those that the program knows
    #[arg(long, value_name = "FILE")]
    known_failing: Option<PathBuf>,
    /// Colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

/// Shows the evidence and writes the reports; the exit code is that of the run.
pub(super) fn report(arguments: &Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    if arguments
        .report
        .iter()
        .any(|report| report.format == Format::Ndjson)
    {
        return Err(Failed::usage(
            "evidence cannot be made from evidence; use json or junit",
        ));
    }
    let events = read(&arguments.evidence)?;
    let target = events.iter().find_map(|event| match event {
        Event::RunStarted(started) => Some(started.target.name.clone()),
        _ => None,
    });
    let target = target.ok_or_else(|| {
        Failed::usage(format!(
            "{}: no run starts in it",
            arguments.evidence.display()
        ))
    })?;
    let known = known(catalogue()?, &target, arguments.known_failing.as_deref())?;
    let digest = Digest::of(events, &known, &[]);
    let paint = Paint(arguments.color.wanted(console.colour));
    write!(console.out, "{}", report::terminal(&digest, paint))?;
    for report in &arguments.report {
        report::write(&digest, report).map_err(|error| named(&report.path, &error))?;
    }
    Ok(digest.conclusion().exit_code())
}

/// The target's known deviations: those of the file, else those that the program carries.
pub(super) fn known(
    catalogue: &Catalogue,
    target: &str,
    file: Option<&Path>,
) -> Result<KnownList, Failed> {
    let ids = catalogue.clauses().iter().map(|clause| clause.id.as_str());
    match file {
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|error| named(path, &error))?;
            KnownList::parse(&text, &path.display().to_string(), ids).map_err(Failed::usage)
        }
        None => KnownList::embedded(target, ids).map_err(Failed::usage),
    }
}

fn read(path: &Path) -> Result<Vec<Event>, Failed> {
    let text = fs::read_to_string(path).map_err(|error| named(path, &error))?;
    text.lines()
        .zip(1..)
        .map(|(line, number)| {
            serde_json::from_str(line)
                .map_err(|error| Failed::usage(format!("{}:{number}: {error}", path.display())))
        })
        .collect()
}

/// A file's error with the file's name.
pub(super) fn named(path: &Path, error: &dyn std::fmt::Display) -> Failed {
    Failed::usage(format!("{}: {error}", path.display()))
}
