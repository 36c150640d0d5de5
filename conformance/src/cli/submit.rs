//! `conformance submit`: judges a target by a profile, and writes the submission that its
//! implementer publishes.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::evidence_file::read;
use super::options::{RunArguments, RunOptions};
use super::run::judge;
use super::{Console, Failed, rerun_command};
use crate::assets::TARGETS;
use crate::known_deviations::KnownList;
use crate::report::{Conclusion, FileReport, Format};
use crate::submission::{Submission, check, is_plain};

/// The command line of `submit`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct Arguments {
    /// Name of the implementation, of letters, digits, `.`, `_`, `+` and `-`
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Text in Markdown that says how the implementation is had, built and started; needed where
    /// only an address is given
    #[arg(long, alias = "how", value_name = "FILE")]
    instructions: Option<PathBuf>,
    /// Folder that the submission is written below
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    out: PathBuf,
    #[command(flatten)]
    run: RunArguments,
}

const NOTES: &str = "\
Takes the options of `run`; --profile and --target-version have to be given. Writes
OUT/PROFILE/NAME/VERSION with report.json, evidence.ndjson.gz and README.md, in the place of an
earlier one. The score may be any: rules that do not hold or were not judged are told as such, and
lists of known deviations do not apply.

Exit codes: 0 when it is written; 2 for wrong usage; else that of the run, which was stopped, or
did not reach or get into the target.";

/// Judges the target, and writes the submission.
pub(super) fn submit(arguments: Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    let mut options = arguments.run.options()?;
    let name = arguments.name;
    let Some(version) = options.target_version.clone() else {
        return Err(Failed::usage(
            "a submission is of a version: --target-version",
        ));
    };
    for (flag, text) in [("--name", &name), ("--target-version", &version)] {
        if !is_plain(text) {
            return Err(Failed::usage(format!(
                "{flag} `{text}`: letters, digits, `.`, `_`, `+` and `-`, and no dot in front"
            )));
        }
    }
    check_options(&options, arguments.instructions.as_deref())?;
    let text = |path: &Path| fs::read_to_string(path).map_err(|error| Failed::at(path, &error));
    let instructions = arguments.instructions.as_deref().map(text).transpose()?;
    let target = own_target(&options).map(text).transpose()?;
    let command = command(&options, &name, &version);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("run.ndjson");
    options.report.push(FileReport {
        format: Format::Ndjson,
        path: path.clone(),
    });
    options.called = Some(name);
    let digest = judge(&options, Some(KnownList::default()), console)?;
    let conclusion = digest.map_or(Conclusion::Incomplete, |digest| match digest.is_unasked() {
        true => Conclusion::Unreachable.max(digest.conclusion()),
        false => digest.conclusion(),
    });
    if conclusion > Conclusion::NotConformant {
        writeln!(console.err, "nothing is written: the run was not whole")?;
        return Ok(conclusion.exit_code());
    }
    let submission = Submission {
        events: &read(&path)?,
        command: &command,
        instructions: instructions.as_deref().unwrap_or_default(),
        target: target.as_deref(),
    };
    let written = submission.write(&arguments.out);
    let written = written.map_err(|error| Failed::at(&arguments.out, &error))?;
    check(&written).map_err(|error| Failed::at(&written, &error))?;
    writeln!(console.out, "submission: {}", written.display())?;
    Ok(0)
}

/// Rejects options that a submission does not support or that are missing.
fn check_options(options: &RunOptions, instructions: Option<&Path>) -> Result<(), Failed> {
    if options.profile.is_none() {
        return Err(Failed::usage("a submission is by a profile: --profile"));
    }
    for (flag, is_set) in [
        ("--skip", !options.skip.is_empty()),
        ("--repeat", options.repeat.is_some()),
        ("--detect-flaky", options.detect_flaky.is_some()),
        ("--fail-fast", options.fail_fast == Some(true)),
        ("--max-fail", options.max_fail.is_some()),
        ("--run-unclaimed", options.run_unclaimed == Some(true)),
        ("--known-failing", options.known_failing.is_some()),
        ("--known-flaky", options.known_flaky.is_some()),
        ("a second --target", options.target.len() > 1),
    ] {
        if is_set {
            return Err(Failed::usage(format!(
                "a submission is one whole run without lists: not with {flag}"
            )));
        }
    }
    let by_address = options.engine_url.is_some() || options.control_url.is_some();
    match by_address && instructions.is_none() {
        true => Err(Failed::usage(
            "say with --instructions FILE how the server behind the address is had, built and started",
        )),
        false => Ok(()),
    }
}

/// Returns the path of the target file, unless the target is built in.
fn own_target(options: &RunOptions) -> Option<&Path> {
    let name = options.target.first()?;
    let known = name == "reference" || TARGETS.iter().any(|(known, _)| known == name);
    (!known).then_some(Path::new(name))
}

/// Returns the command line that repeats the run of the submission.
fn command(options: &RunOptions, name: &str, version: &str) -> String {
    let rerun = rerun_command::command(options);
    let rest = rerun.strip_prefix("conformance run").unwrap_or_default();
    let profile = options.profile.as_deref().unwrap_or_default();
    format!("conformance submit --profile {profile} --name {name} --target-version {version}{rest}")
}
