//! `conformance run --watch PATH`: reruns when a file changes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use tokio::task::JoinHandle;

use super::options::{RunArguments, RunOptions};
use super::run::judge;
use super::{Console, Failed, multi_target};
use crate::report::{Conclusion, Digest, Outcome};
use crate::run::interrupt;

/// The command line of `run`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Judge again whenever this file changes, such as the server's program: first the rules that
    /// failed, then all; until Ctrl-C or SIGTERM. Has no variable and no key
    #[arg(long, value_name = "PATH")]
    watch: Option<PathBuf>,
    #[command(flatten)]
    run: RunArguments,
}

/// Polling interval of the file.
const PAUSE: Duration = Duration::from_millis(250);

/// Modification time and length of a file; none if the file does not exist.
type Stamp = Option<(SystemTime, u64)>;

/// Outcome of each rule.
type Outcomes = BTreeMap<String, Outcome>;

/// Judges a target, once or whenever the watched file changes, and returns the exit code of the
/// result.
pub(super) fn run(arguments: Arguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    match arguments.watch {
        None => multi_target::run(arguments.run, console),
        Some(path) => {
            let options = arguments.run.options()?;
            if options.target.len() > 1 {
                return Err(Failed::usage("--watch goes with one --target"));
            }
            rerun(&options, &path, console)
        }
    }
}

/// Judges all rules. Whenever the file changes, judges first the rules that failed, then all, and
/// reports which became better or worse. Ends when the user stops it, with the exit code of the
/// last whole run.
fn rerun(options: &RunOptions, path: &Path, console: &mut Console<'_>) -> Result<u8, Failed> {
    let mut last_stamp = stamp(path);
    if last_stamp.is_none() {
        return Err(Failed::at(path, &"no such file to watch"));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut last: Option<Digest> = None;
    loop {
        let before = last.as_ref().map(outcomes).unwrap_or_default();
        let failed = RunOptions {
            rules: failed(&before),
            profile: None,
            report: Vec::new(),
            ..options.clone()
        };
        if !failed.rules.is_empty() {
            writeln!(console.err, "first the rules that failed")?;
            if let Some(digest) = judge(&failed, None, console)?
                && digest.conclusion() == Conclusion::Interrupted
            {
                return Ok(digest.conclusion().exit_code());
            }
        }
        let Some(digest) = judge(options, None, console)? else {
            return Ok(Conclusion::Incomplete.exit_code());
        };
        let code = digest.conclusion().exit_code();
        if digest.conclusion() == Conclusion::Interrupted {
            return Ok(code);
        }
        if last.is_some() {
            for line in changes(&before, &outcomes(&digest)) {
                writeln!(console.out, "{line}")?;
            }
        }
        last = Some(digest);
        let display_path = path.display();
        let waited = runtime.block_on(async {
            // The signal handler is installed before the program announces that it waits.
            let shutdown = tokio::spawn(interrupt::shutdown_requested());
            tokio::task::yield_now().await;
            writeln!(
                console.err,
                "waiting for {display_path} to change; Ctrl-C ends"
            )?;
            wait_for_change(path, &last_stamp, shutdown).await
        });
        match waited? {
            Some(stamp) => last_stamp = Some(stamp),
            None => return Ok(code),
        }
    }
}

fn stamp(path: &Path) -> Stamp {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Waits until the file has changed and is no longer being written. None if the user stops the
/// program.
async fn wait_for_change(
    path: &Path,
    before: &Stamp,
    mut shutdown: JoinHandle<io::Result<()>>,
) -> io::Result<Stamp> {
    let settled = async {
        let mut last = stamp(path);
        loop {
            tokio::time::sleep(PAUSE).await;
            let now = stamp(path);
            if now.is_some() && now != *before && now == last {
                return now;
            }
            last = now;
        }
    };
    tokio::select! {
        now = settled => {
            shutdown.abort();
            Ok(now)
        }
        stopped = &mut shutdown => stopped?.map(|()| None),
    }
}

fn outcomes(digest: &Digest) -> Outcomes {
    let rows = digest.rows.iter();
    rows.map(|row| (row.judged.rule.clone(), row.outcome))
        .collect()
}

fn failed(outcomes: &Outcomes) -> Vec<String> {
    let failed = outcomes
        .iter()
        .filter(|(_, outcome)| **outcome == Outcome::Fail);
    failed.map(|(rule, _)| rule.clone()).collect()
}

/// Describes which rules became better or worse, and counts them.
fn changes(before: &Outcomes, after: &Outcomes) -> Vec<String> {
    let passed = |outcome: &Outcome| *outcome == Outcome::Pass;
    let mut lines = Vec::new();
    let (mut better, mut worse) = (0, 0);
    for (rule, now) in after {
        match before.get(rule) {
            Some(then) if passed(now) && !passed(then) => {
                better += 1;
                lines.push(format!("better  {rule}"));
            }
            Some(then) if passed(then) && !passed(now) => {
                worse += 1;
                lines.push(format!("worse   {rule}"));
            }
            _ => {}
        }
    }
    let failing = failed(after).len();
    lines.push(format!(
        "{better} better, {worse} worse, {failing} still to mend"
    ));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_better_or_worse_is_said() {
        let run = |rules: &[(&str, Outcome)]| -> Outcomes {
            let rules = rules.iter();
            rules
                .map(|(rule, outcome)| ((*rule).to_owned(), *outcome))
                .collect()
        };
        let before = run(&[
            ("mended", Outcome::Fail),
            ("broken", Outcome::Pass),
            ("same", Outcome::Fail),
            ("gone", Outcome::Pass),
        ]);
        let after = run(&[
            ("mended", Outcome::Pass),
            ("broken", Outcome::Fail),
            ("same", Outcome::Fail),
            ("new", Outcome::Fail),
        ]);
        assert_eq!(
            changes(&before, &after),
            [
                "worse   broken",
                "better  mended",
                "1 better, 1 worse, 3 still to mend"
            ]
        );
        assert_eq!(failed(&before), ["mended", "same"]);
        assert_eq!(
            changes(&after, &after),
            ["0 better, 0 worse, 3 still to mend"]
        );
    }
}
