//! `conformance run`: judges a target, or several in turn that are then compared.

use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::options::{Progress, RunArguments, RunOptions};
use super::run::judge;
use super::target::{describe, documents};
use super::{Console, Failed};
use crate::catalogue::Document;
use crate::diff::Comparison;
use crate::known_deviations::KnownList;
use crate::report::{self, Conclusion, Digest, FileReport, Format};

/// One of several targets, with the options of its run.
struct TargetRun {
    /// Word in file names that distinguishes this target from the others.
    label: String,
    options: RunOptions,
}

/// Judges one target, or several and how they differ; returns the exit code.
pub(super) fn run(arguments: RunArguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    let options = arguments.options()?;
    if options.target.len() > 1 {
        return compare(&options, console);
    }
    let judged = judge(&options, None, console)?;
    Ok(judged
        .map_or(Conclusion::Incomplete, |digest| digest.conclusion())
        .exit_code())
}

/// Judges the targets and reports where they differ; the exit code is the worst of all targets.
fn compare(options: &RunOptions, console: &mut Console<'_>) -> Result<u8, Failed> {
    let targets = targets(options)?;
    let (mut digests, mut worst) = (Vec::<Digest>::new(), Conclusion::Conformant);
    for TargetRun { label, options } in &targets {
        let seed = digests.first().and_then(|first| first.started.as_ref());
        let seed = options.seed.or(seed.map(|started| started.seed));
        let options = RunOptions {
            seed,
            ..options.clone()
        };
        writeln!(console.out, "== {label}")?;
        let Some(digest) = judge(&options, None, console)? else {
            return Ok(Conclusion::Incomplete.exit_code());
        };
        worst = worst.max(digest.conclusion());
        digests.push(digest);
        if worst == Conclusion::Interrupted {
            return Ok(worst.exit_code());
        }
    }
    for report in pages(options) {
        report::write(&digests, report).map_err(|error| Failed::at(&report.path, &error))?;
        writeln!(console.out, "report: {}", report.path.display())?;
    }
    let labels: Vec<&str> = targets.iter().map(|one| one.label.as_str()).collect();
    writeln!(console.out, "== {}", labels.join(" and "))?;
    let repeated = repeat_runs(&targets, &digests, console)?;
    let stopped = |run: &Digest| run.conclusion() == Conclusion::Interrupted;
    if repeated.iter().flatten().any(stopped) {
        return Ok(Conclusion::Interrupted.exit_code());
    }
    let comparison = Comparison::of(&digests, &repeated).with_labels(&labels);
    for line in comparison.lines() {
        writeln!(console.out, "{line}")?;
    }
    Ok(worst.exit_code())
}

/// Returns each target with its options: the rules by which all targets can be judged, and separate
/// files.
fn targets(options: &RunOptions) -> Result<Vec<TargetRun>, Failed> {
    let single_target_options = [
        ("--engine-url", options.engine_url.is_some()),
        ("--control-url", options.control_url.is_some()),
        ("--token-env", options.token_env.is_some()),
        ("--program", options.program.is_some()),
        ("--vendor", options.vendor.is_some()),
        ("--target-version", options.target_version.is_some()),
    ];
    if let Some((flag, _)) = single_target_options.iter().find(|(_, is_set)| *is_set) {
        return Err(Failed::usage(format!(
            "{flag} goes with one target; of several, each is described by its own file"
        )));
    }
    let mut common = Document::ALL.to_vec();
    let mut labels: Vec<String> = Vec::new();
    for name in &options.target {
        let target = describe(name)?;
        let has = documents(&target);
        common.retain(|document| has.contains(document));
        labels.push(label(&target.name, &labels));
    }
    let mut rules = options.rules.clone();
    if rules.is_empty() {
        rules.extend(common.iter().map(|document| document.name().to_owned()));
    }
    if rules.is_empty() {
        return Err(Failed::usage("there is no API that all targets have"));
    }
    let names = options.target.iter().zip(labels);
    let runs = names.map(|(name, label)| TargetRun {
        options: RunOptions {
            target: vec![name.clone()],
            rules: rules.clone(),
            report: reports_for(options, &label),
            repro: options.repro.as_ref().map(|folder| folder.join(&label)),
            compared: true,
            ..options.clone()
        },
        label,
    });
    Ok(runs.collect())
}

/// Converts the name of a target to a word for file names; a repeated name gets a number.
fn label(name: &str, taken: &[String]) -> String {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let label: String = name
        .chars()
        .map(|letter| if is_allowed(letter) { letter } else { '-' })
        .collect();
    let mut labels =
        std::iter::once(label.clone()).chain((2..).map(|number| format!("{label}-{number}")));
    labels.find(|label| !taken.contains(label)).unwrap_or(label)
}

/// Returns the requested HTML reports, which show all targets together.
fn pages(options: &RunOptions) -> impl Iterator<Item = &FileReport> {
    let reports = options.report.iter();
    reports.filter(|report| report.format == Format::Html)
}

/// Returns the other requested reports for one target, in separate files.
fn reports_for(options: &RunOptions, label: &str) -> Vec<FileReport> {
    let reports = options.report.iter();
    let reports = reports.filter(|report| report.format != Format::Html);
    reports
        .map(|report| FileReport {
            format: report.format,
            path: path_with_label(&report.path, label),
        })
        .collect()
}

/// Inserts a word before the extension of a file, as in `run.opa.ndjson`.
fn path_with_label(path: &Path, label: &str) -> PathBuf {
    let Some(stem) = path.file_stem() else {
        return path.to_owned();
    };
    let mut name = stem.to_owned();
    name.push(".");
    name.push(label);
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

/// Reruns, on each target, the rules whose requests show behaviour that no rule covers. These runs
/// are neither shown nor written.
fn repeat_runs(
    targets: &[TargetRun],
    digests: &[Digest],
    console: &mut Console<'_>,
) -> Result<Vec<Vec<Digest>>, Failed> {
    let rules = Comparison::of(digests, &[]).rules();
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    writeln!(
        console.err,
        "sending the requests of {} rules again",
        rules.len()
    )?;
    let mut repeated = Vec::new();
    for TargetRun { options, .. } in targets {
        let mut runs = Vec::new();
        // First with the same number of jobs, then one rule at a time.
        for jobs in [options.jobs, Some(NonZeroUsize::MIN)] {
            runs.extend(run_silently(options, &rules, jobs)?);
        }
        repeated.push(runs);
    }
    Ok(repeated)
}

/// Runs these rules without any output.
fn run_silently(
    options: &RunOptions,
    rules: &BTreeSet<String>,
    jobs: Option<NonZeroUsize>,
) -> Result<Option<Digest>, Failed> {
    let options = RunOptions {
        rules: rules.iter().cloned().collect(),
        jobs,
        skip: Vec::new(),
        shard: None,
        repeat: None,
        detect_flaky: None,
        fail_fast: None,
        max_fail: None,
        report: Vec::new(),
        repro: None,
        progress: Some(Progress::None),
        ..options.clone()
    };
    let mut sinks = (io::sink(), io::sink());
    let mut silent = Console {
        out: &mut sinks.0,
        err: &mut sinks.1,
        colour: false,
        watched: false,
    };
    judge(&options, Some(KnownList::default()), &mut silent)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::name("run.ndjson", "run.opa.ndjson")]
    #[case::in_a_folder("out/run", "out/run.opa")]
    #[case::dotted_folder("a.b/run.tar.gz", "a.b/run.tar.opa.gz")]
    fn files_of_each_target_have_names_of_their_own(#[case] path: &str, #[case] expected: &str) {
        assert_eq!(path_with_label(Path::new(path), "opa"), Path::new(expected));
    }

    #[test]
    fn labels_are_plain_and_apart() {
        let taken = ["opa".to_owned(), "opa-2".to_owned()];
        for (name, expected) in [("a/b c", "a-b-c"), ("opa", "opa-3")] {
            assert_eq!(label(name, &taken), expected);
        }
    }
}
