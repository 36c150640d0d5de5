//! Every check of a commit beside the two commands of the README.

use std::{error::Error, process::Command, time::Instant};

use crate::postgres::{Postgres, done};
use crate::{
    attack, bench, bundles, filters, fuzz_opa, kill_matrix, matrix, peers, rego_cases, report,
    report_page, residuals, root, soak,
};

type Step = (&'static str, fn() -> Result<(), Box<dyn Error>>);

/// In order: what is quick to fail first.
const STEPS: &[Step] = &[
    ("format", format),
    ("lints", lints),
    ("store suite on PostgreSQL", store_on_postgres),
    ("the HTML report in a browser", report_page::run),
    ("language cases", language_cases),
    ("what residuals mean", meaning_of_residuals),
    ("rows that filters select", filters_on_databases),
    ("faults and the rules that notice them", teeth),
    ("real peers", peers::run),
    ("released versions of the real OPA", versions),
    ("bundles from definition to decision", bundles_end_to_end),
    ("attacks", attacks),
    ("use for a while", used_for_a_while),
    ("generated policies beside the real OPA", beside_opa),
    ("cost of growth and of the suite", bench::all),
];

/// Runs every step, and says at the end what ran and how long it took.
///
/// # Errors
/// With the first step that fails; what could not run has failed.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let mut finished = Vec::new();
    for (name, step) in STEPS {
        report("checking", name);
        let start = Instant::now();
        step().map_err(|why| format!("{name}: {why}"))?;
        finished.push((name, start.elapsed().as_secs()));
    }
    for (name, seconds) in finished {
        report("passed", &format!("{name} ({seconds} s)"));
    }
    Ok(())
}

fn format() -> Result<(), Box<dyn Error>> {
    cargo(&["fmt", "--all", "--check"])
}

fn lints() -> Result<(), Box<dyn Error>> {
    cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])
}

fn teeth() -> Result<(), Box<dyn Error>> {
    kill_matrix::run(false)
}

fn versions() -> Result<(), Box<dyn Error>> {
    matrix::run(false)
}

fn language_cases() -> Result<(), Box<dyn Error>> {
    rego_cases::run(None, false)
}

fn meaning_of_residuals() -> Result<(), Box<dyn Error>> {
    residuals::run(1_000, 0)
}

fn filters_on_databases() -> Result<(), Box<dyn Error>> {
    filters::run(2_000, 0)
}

fn bundles_end_to_end() -> Result<(), Box<dyn Error>> {
    bundles::run(60, 200)
}

fn attacks() -> Result<(), Box<dyn Error>> {
    attack::run(&attack::Options::default())
}

fn used_for_a_while() -> Result<(), Box<dyn Error>> {
    soak::run(180, None)
}

fn beside_opa() -> Result<(), Box<dyn Error>> {
    fuzz_opa::run(1_000, 0)
}

/// The store suite makes its cases on PostgreSQL only where a server is named, so none at all
/// would pass: their number is asked for first.
fn store_on_postgres() -> Result<(), Box<dyn Error>> {
    let server = Postgres::start()?;
    let suite = |last: &str| {
        let mut command = Command::new("cargo");
        command
            .current_dir(root())
            .env("CONFORMANCE_POSTGRES_URL", server.url())
            .args(["test", "--workspace", "--test", "control"])
            .args(["--", "postgres/", last]);
        command
    };
    let listed = suite("--list").output()?;
    let cases = String::from_utf8_lossy(&listed.stdout).lines().count();
    if cases == 0 {
        return Err("no case runs on PostgreSQL".into());
    }
    report("running", &format!("{cases} cases on PostgreSQL"));
    done(&mut suite("--quiet"))
}

fn cargo(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    done(Command::new("cargo").current_dir(root()).args(arguments))
}
