//! Checks in addition to the two commands of the README, in three stages: commit, nightly and
//! weekly. CONTRIBUTING.md has the same table, with durations.

mod changes;
mod steps;

use std::time::Instant;

use crate::{Failure, report, verification};
use changes::Changes;
use steps::{Run, STEPS, Step};

/// Option values and defaults of `cargo xtask ci`.
pub(crate) const USAGE: &str = "[--stage commit|nightly|weekly] [--since REV] [--list]";

/// Stage at which a CI step runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Runs at each commit.
    Commit,
    /// Runs each night.
    Nightly,
    /// Runs each week.
    Weekly,
}

impl Stage {
    const ALL: [Self; 3] = [Self::Commit, Self::Nightly, Self::Weekly];

    fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Nightly => "nightly",
            Self::Weekly => "weekly",
        }
    }
}

/// Arguments of `cargo xtask ci`.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    stage: Stage,
    /// Revision since which changed files select additional steps.
    since: Option<String>,
    /// Whether to list the steps instead of running them.
    list: bool,
}

impl Options {
    /// Parses the arguments; returns none if they are invalid.
    fn parse(arguments: &[&str]) -> Option<Self> {
        let mut options = Self {
            stage: Stage::Commit,
            since: None,
            list: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match *argument {
                "--stage" => {
                    let name = rest.next()?;
                    let named = |stage: &Stage| stage.name() == *name;
                    options.stage = Stage::ALL.into_iter().find(named)?;
                }
                "--since" => options.since = Some((*rest.next()?).to_owned()),
                "--list" => options.list = true,
                _ => return None,
            }
        }
        // Changed files select steps of later stages, so `--since` is for the first stage only.
        let is_valid = options.since.is_none() || options.stage == Stage::Commit;
        is_valid.then_some(options)
    }
}

/// Runs the steps of a stage; returns false if the arguments are invalid.
///
/// # Errors
/// When a step fails or cannot run, or the revision is unknown. The stage `commit` stops at the
/// first failure, the others run every step.
pub(crate) fn run(arguments: &[&str]) -> Result<bool, Failure> {
    let Some(options) = Options::parse(arguments) else {
        return Ok(false);
    };
    let changes = options.since.as_deref().map(Changes::since).transpose()?;
    let is_chosen = |step: &&Step| is_chosen(step, options.stage, changes.as_ref());
    let (chosen, left): (Vec<&Step>, Vec<&Step>) = STEPS.iter().partition(is_chosen);
    let mut outcomes = Vec::new();
    let mut failed = Vec::new();
    for step in chosen {
        if options.list {
            outcomes.push(("runs", step.name.to_owned()));
            continue;
        }
        let start = Instant::now();
        let result = step.run();
        let line = format!("{} ({} s)", step.name, start.elapsed().as_secs());
        match result {
            Ok(()) => {
                report("passed", &line);
                outcomes.push(("passed", line));
            }
            Err(error) if options.stage == Stage::Commit => return Err(error),
            Err(error) => {
                report("failed", &error.to_string());
                failed.push(step.name);
                outcomes.push(("failed", line));
            }
        }
    }
    for (word, line) in outcomes {
        report(word, &line);
    }
    for step in left {
        report("not run", &left_out(step, options.since.as_deref()));
    }
    match failed.as_slice() {
        [] => Ok(true),
        _ => Err(format!("steps of the stage: {}", failed.join(", ")).into()),
    }
}

/// Whether a run includes a step: one of its stage, or at a commit one whose paths changed.
fn is_chosen(step: &Step, stage: Stage, changes: Option<&Changes>) -> bool {
    let is_changed = || changes.is_some_and(|changes| changes.touch(step.paths));
    step.stage == stage || (stage == Stage::Commit && is_changed())
}

/// Returns the line about a step that a run skips: its name, and the stage that runs it.
fn left_out(step: &Step, since: Option<&str>) -> String {
    let (name, stage) = (step.name, step.stage.name());
    match (since, step.paths) {
        (Some(since), [_, ..]) => format!("{name} ({stage}; nothing of it changed since {since})"),
        _ => format!("{name} ({stage})"),
    }
}

impl Step {
    fn run(&self) -> Result<(), Failure> {
        report("checking", self.name);
        let result = match &self.run {
            Run::Task(task) => task(),
            Run::Checks(all) => all.iter().try_for_each(|check| verification::run(check)),
        };
        result.map_err(|error| format!("{}: {error}", self.name).into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rstest::rstest;

    use super::changes::Changes;
    use super::steps::{Run, STEPS, Step};
    use super::{Options, Stage, is_chosen, left_out};
    use crate::check_names::CHECKS;
    use crate::root;

    #[test]
    fn steps_name_checks() {
        for step in STEPS {
            let Run::Checks(all) = step.run else { continue };
            for check in all {
                let is_known = CHECKS.iter().any(|(name, _)| check.first() == Some(name));
                assert!(is_known, "{}: {check:?}", step.name);
            }
        }
    }

    #[test]
    fn names_of_steps_differ() {
        let names: BTreeSet<&str> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
    }

    #[test]
    fn paths_of_steps_exist() {
        for step in STEPS {
            for path in step.paths {
                assert!(root().join(path).exists(), "{}: {path}", step.name);
            }
        }
    }

    #[test]
    fn contributing_shows_each_step_in_its_stage() {
        let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap_or_default();
        for step in STEPS {
            let row = format!("| {} | {} |", step.name, step.stage.name());
            assert!(text.contains(&row), "CONTRIBUTING.md lacks the row {row:?}");
        }
    }

    fn options(stage: Stage, since: Option<&str>, list: bool) -> Option<Options> {
        let since = since.map(str::to_owned);
        Some(Options { stage, since, list })
    }

    #[rstest]
    #[case::none(&[], options(Stage::Commit, None, false))]
    #[case::stage_and_list(&["--stage", "weekly", "--list"], options(Stage::Weekly, None, true))]
    #[case::since(&["--since", "main"], options(Stage::Commit, Some("main"), false))]
    #[case::no_stage(&["--stage"], None)]
    #[case::unknown_stage(&["--stage", "hourly"], None)]
    #[case::no_revision(&["--since"], None)]
    #[case::since_of_another_stage(&["--stage", "nightly", "--since", "main"], None)]
    #[case::unknown(&["--quick"], None)]
    fn arguments_are_parsed(#[case] arguments: &[&str], #[case] expected: Option<Options>) {
        assert_eq!(Options::parse(arguments), expected);
    }

    #[test]
    fn a_commit_runs_its_stage_and_what_it_changes() {
        let step = |stage| Step {
            name: "store",
            stage,
            paths: &["reference/control/src/store"],
            run: Run::Task(|| Ok(())),
        };
        let (commit, nightly) = (step(Stage::Commit), step(Stage::Nightly));
        let inside = Changes::of("reference/control/src/store/mod.rs\n");
        let unrelated = Changes::of("reference/control/src/storefront.rs\n");
        assert!(is_chosen(&commit, Stage::Commit, None));
        assert!(!is_chosen(&commit, Stage::Nightly, None));
        assert!(!is_chosen(&nightly, Stage::Commit, None));
        assert!(!is_chosen(&nightly, Stage::Commit, Some(&unrelated)));
        assert!(is_chosen(&nightly, Stage::Commit, Some(&inside)));
        assert!(is_chosen(&nightly, Stage::Nightly, None));
        assert_eq!(left_out(&nightly, None), "store (nightly)");
        assert_eq!(
            left_out(&nightly, Some("main")),
            "store (nightly; nothing of it changed since main)"
        );
    }
}
