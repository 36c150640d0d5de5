//! Every rule of the suite as a test with the name `conformance/<rule id>`.
//!
//! By default, the tests judge the reference in this process, and compare each outcome with its
//! file under `snapshots/`. `INSTA_UPDATE=always cargo test conformance/<rule id>` accepts the
//! current outcome; `cargo insta review` asks before it accepts one. With `CONFORMANCE_ENGINE_URL`
//! or `CONFORMANCE_CONTROL_URL` (and `CONFORMANCE_TOKEN`, `CONFORMANCE_VENDOR`), the tests judge
//! that server, and write nothing.

#[path = "support/arguments.rs"]
mod arguments;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Duration;

use conformance::catalogue::{Catalogue, Level};
use conformance::evidence::ClauseVerdict;
use conformance::target::{Target, Token};
use conformance::verdict::Verdict;
use conformance::{Connection, Suite};
use libtest_mimic::{Failed, Trial};

/// Timeout for responses of the reference and for effects of requests. It only ends hangs, even on
/// a busy machine.
const HANG_LIMIT: Duration = Duration::from_secs(120);

#[expect(clippy::print_stderr, reason = "a test harness speaks to its user")]
fn main() -> ExitCode {
    let arguments = arguments::arguments();
    let (suite, blesses) = match suite() {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    // The threads of tests may outlive `main`: the harness does not wait for them if it exits
    // early.
    let suite: &'static Suite = Box::leak(Box::new(suite));
    let trials = suite
        .clauses()
        .map(|clause| {
            let id = clause.id.as_str();
            let name = format!("conformance/{id}");
            let not_run = suite.not_run(id);
            let trial = Trial::test(name, move || judge(suite, id, blesses));
            match not_run {
                None => trial,
                Some(reason) => trial.with_kind(reason.to_string()).with_ignored_flag(true),
            }
        })
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let remaining = suite.close();
    if !remaining.is_empty() {
        eprintln!("left behind: {}", remaining.join(", "));
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// Returns the suite for the selected target, and true if snapshots may be written.
fn suite() -> Result<(Suite, bool), Box<dyn std::error::Error>> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let control = variable("CONFORMANCE_CONTROL_URL");
    let engine = variable("CONFORMANCE_ENGINE_URL");
    let embedded = control.is_none() && engine.is_none();
    let mut target = if embedded {
        Target::embedded()?
    } else {
        let everything = Catalogue::embedded()?.capabilities().iter();
        Target::at(
            control,
            engine,
            variable("CONFORMANCE_TOKEN").map(Token::new),
            everything.map(|known| known.name.clone()).collect(),
        )
    };
    if let Some(vendor) = variable("CONFORMANCE_VENDOR") {
        target.vendor = vendor;
    }
    let mut suite = Suite::builder(target);
    if embedded {
        // Packs do not count for the score, but the reference also satisfies them.
        suite = suite
            .with_packs()
            .eventual_timeout(HANG_LIMIT)
            .connection(Connection {
                timeout: HANG_LIMIT,
                ..Connection::default()
            });
    }
    Ok((suite.build()?, embedded))
}

fn judge(suite: &Suite, id: &str, blesses: bool) -> Result<(), Failed> {
    let outcome = suite
        .run_one(id)
        .ok_or_else(|| Failed::from("no such rule"))?;
    if let Some(defect) = outcome.defects.first() {
        return Err(format!("the suite's own fault: {}", defect.what).into());
    }
    if let Some(failure) = outcome.early_failure {
        return Err(failure.to_string().into());
    }
    let judged = outcome.judged;
    let transcript_judged = judged.level == Level::Rule && !judged.transcript.is_empty();
    if blesses && transcript_judged {
        return compare(&judged);
    }
    match judged.verdict {
        Verdict::Pass | Verdict::Recorded => Ok(()),
        Verdict::Fail(failure) => Err(failure.to_string().into()),
        Verdict::NotRun(reason) => Err(reason.to_string().into()),
    }
}

/// Compares the outcome of a rule with its file under `snapshots/`, or writes the file if this is
/// requested.
fn compare(judged: &ClauseVerdict) -> Result<(), Failed> {
    let (folder, slug) = judged.rule.rsplit_once('/').unwrap_or(("", &judged.rule));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("../snapshots/{folder}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let assertion = AssertUnwindSafe(|| {
        settings.bind(|| insta::assert_snapshot!(slug, judged.transcript));
    });
    catch_unwind(assertion).map_err(|_| match &judged.verdict {
        Verdict::Fail(failure) => failure.to_string().into(),
        _ => format!("not blessed:\n{}", judged.transcript).into(),
    })
}
