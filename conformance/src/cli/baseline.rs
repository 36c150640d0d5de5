//! `conformance baseline`: creates, updates and checks lists of known deviations.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use chrono::Utc;
use clap::{Args, Subcommand};

use super::evidence_file::{judged, read};
use super::known_lists::{add, rules};
use super::options::RunArguments;
use super::run::judge;
use super::{Console, Failed};
use crate::known_deviations::condition;
use crate::known_deviations::text::{without, write_list};
use crate::known_deviations::{self, Deviation, Kind, KnownList};
use crate::report::{Conclusion, Digest, Outcome};

/// The commands of `baseline`.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write a list of every rule that a target breaks, with a reason to fill in for each
    Init(Box<Init>),
    /// Take the rules from a list that the target keeps now; everything else stays as it is
    Update(Box<Update>),
    /// Check lists without a run: unknown keys, rules that do not exist, reasons still to be
    /// written (exit code 2), entries that have expired (1)
    Check(Check),
}

/// The command line of `baseline init`.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// The list to write; it must not exist
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    /// Write a list of flaky rules, for --known-flaky
    #[arg(long)]
    flaky: bool,
    #[command(flatten)]
    source: Source,
}

/// The command line of `baseline update`.
#[derive(Debug, Args)]
pub(super) struct Update {
    /// The list
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    source: Source,
}

/// The command line of `baseline check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The lists
    #[arg(value_name = "FILE", required_unless_present = "file")]
    files: Vec<PathBuf>,
    /// One of them, as the other commands name it
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Where verdicts come from.
#[derive(Debug, Args)]
struct Source {
    /// Evidence that a run wrote with `--report ndjson=PATH`; without it, the target is judged,
    /// by the options of `run`
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
    #[command(flatten)]
    run: RunArguments,
}

/// Runs a command of `baseline`.
pub(super) fn baseline(command: Command, console: &mut Console<'_>) -> Result<u8, Failed> {
    match command {
        Command::Init(arguments) => init(*arguments, console),
        Command::Update(arguments) => update(*arguments, console),
        Command::Check(arguments) => check(&arguments, console),
    }
}

fn init(arguments: Init, console: &mut Console<'_>) -> Result<u8, Failed> {
    let path = &arguments.file;
    if path.exists() {
        return Err(Failed::at(
            path,
            &"exists; see `conformance baseline update`",
        ));
    }
    let Some(digest) = arguments.source.digest(console)? else {
        return Ok(Conclusion::Incomplete.exit_code());
    };
    let kind = if arguments.flaky {
        Kind::Flaky
    } else {
        Kind::Failing
    };
    let failed = || {
        digest
            .rows
            .iter()
            .filter(|row| row.outcome == Outcome::Fail)
    };
    let text = write_list(kind, failed().map(|row| &row.judged));
    let written = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Failed::at(path, &error))?;
    let count = failed().count();
    writeln!(
        console.out,
        "{}: {count} rules, whose reasons are yours to write",
        path.display()
    )?;
    Ok(0)
}

fn update(arguments: Update, console: &mut Console<'_>) -> Result<u8, Failed> {
    let path = &arguments.file;
    let (text, file) = (list(path)?, path.display().to_string());
    if Kind::of(&text) == Kind::Flaky {
        return Err(Failed::at(
            path,
            &"a flaky rule that passes once may still be flaky",
        ));
    }
    // Checked before a long run.
    without(&text, &file, |_| true).map_err(Failed::usage)?;
    let Some(digest) = arguments.source.digest(console)? else {
        return Ok(Conclusion::Incomplete.exit_code());
    };
    let Some(target) = digest.started.as_ref().map(|started| &started.target) else {
        return Err(Failed::at(path, &"the evidence does not name its target"));
    };
    // An entry that may not apply to this target is retained, whatever its results.
    let version = target.version.as_deref().and_then(condition::version);
    let rules = rules()?;
    let mut passing = Vec::new();
    for known in Kind::Failing.read(&text, &file).map_err(Failed::usage)? {
        let ids = known_deviations::named(&known, rules.iter().copied());
        let ids = ids.map_err(|error| Failed::at(path, &error))?;
        if known.applies(&target.name, version.as_ref()) == Some(true) && all_proven(&digest, &ids)
        {
            passing.push(known);
        }
    }
    let remaining = without(&text, &file, |entry: &Deviation| passing.contains(entry));
    let remaining = remaining.map_err(Failed::usage)?;
    for entry in &passing {
        writeln!(console.out, "passes now: {}", entry.rule)?;
    }
    if !passing.is_empty() {
        replace(path, &remaining).map_err(|error| Failed::at(path, &error))?;
    }
    writeln!(console.out, "{file}: {} entries taken out", passing.len())?;
    Ok(0)
}

/// Replaces the contents of a file atomically.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.as_file()
        .set_permissions(fs::metadata(path)?.permissions())?;
    file.persist(path)?;
    Ok(())
}

/// Whether each of these rules was judged and passed.
fn all_proven(digest: &Digest, ids: &[String]) -> bool {
    let rows = digest.rows.iter();
    let proven = rows.filter(|row| ids.contains(&row.judged.rule) && row.is_proven());
    proven.count() == ids.len()
}

fn check(arguments: &Check, console: &mut Console<'_>) -> Result<u8, Failed> {
    let rules = rules()?;
    let mut stale = Vec::new();
    for path in arguments.files.iter().chain(&arguments.file) {
        let (text, file) = (list(path)?, path.display().to_string());
        let kind = Kind::of(&text);
        let open = KnownList::unwritten(kind, &text, &file).map_err(Failed::usage)?;
        if !open.is_empty() {
            for rule in &open {
                writeln!(
                    console.out,
                    "{file}: the `reason` of `{rule}` is still to be written"
                )?;
            }
            let count = open.len();
            return Err(Failed::at(
                path,
                &format!("{count} reasons are still to be written"),
            ));
        }
        let known = add(KnownList::default(), kind, path, &rules)?;
        stale.extend(known.expired(Utc::now().date_naive()));
    }
    for line in &stale {
        writeln!(console.out, "{line}")?;
    }
    Ok(if stale.is_empty() {
        0
    } else {
        Conclusion::NotConformant.exit_code()
    })
}

fn list(path: &Path) -> Result<String, Failed> {
    fs::read_to_string(path).map_err(|error| Failed::at(path, &error))
}

impl Source {
    /// Returns the digest of the given evidence, otherwise of a run, without known deviations. None
    /// if the run has no rule to judge.
    fn digest(self, console: &mut Console<'_>) -> Result<Option<Digest>, Failed> {
        let known = KnownList::default();
        let Some(path) = self.evidence else {
            return judge(&self.run.options()?, Some(known), console);
        };
        let events = read(&path)?;
        judged(&events, &path)?;
        Ok(Some(Digest::of(events, &known, &[])))
    }
}
