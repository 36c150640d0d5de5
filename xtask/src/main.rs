//! Tasks of the project. This program depends only on the standard library, so that it starts at
//! once; every task that needs the suite, the servers or other crates is a check, and runs in the
//! program of the package `verification`.

mod build_cost;
mod cargo;
mod check_names;
mod ci;
mod commands;
mod compiled_once;
mod deny;
mod verification;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use check_names::CHECKS;
use commands::run_cargo;

/// Error with a message for the user.
type Failure = Box<dyn Error>;

/// Task of this program.
struct Task {
    name: &'static str,
    about: &'static str,
    /// Arguments of the task, as in the usage message.
    usage: &'static str,
    /// Runs the task with its arguments; returns false if they are invalid.
    run: fn(&[&str]) -> Result<bool, Failure>,
}

const TASKS: &[Task] = &[
    Task {
        name: "ci",
        about: "Every check of a commit apart from the two commands of the README, or of a night or week",
        usage: ci::USAGE,
        run: ci::run,
    },
    Task {
        name: "fmt",
        about: "Format every crate; with --check, fail on what is not formatted",
        usage: "[--check]",
        run: |arguments| match arguments {
            [] => format(false).map(|()| true),
            ["--check"] => format(true).map(|()| true),
            _ => Ok(false),
        },
    },
    Task {
        name: "lint",
        about: "Fail on every warning of the compiler and of clippy",
        usage: "",
        run: |arguments| without_arguments(arguments, lint),
    },
    Task {
        name: "features",
        about: "Fail on every warning of the builds with fewer features",
        usage: "",
        run: |arguments| without_arguments(arguments, features),
    },
    Task {
        name: "compiled-once",
        about: "Fail on crates that the two commands of the README compile more than once",
        usage: "",
        run: |arguments| without_arguments(arguments, compiled_once::run),
    },
    Task {
        name: "deny",
        about: "Fail on licences, crates and sources of dependencies that deny.toml does not allow",
        usage: "",
        run: |arguments| without_arguments(arguments, deny::run),
    },
    Task {
        name: "build-cost",
        about: "Measure from nothing what building costs, and a change to a verdict",
        usage: "",
        run: |arguments| without_arguments(arguments, build_cost::run),
    },
];

/// Exit code for wrong usage.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        return refuse(&help());
    };
    let Some(name) = name.to_str() else {
        return refuse("the name of a task is text");
    };
    if let Some(task) = TASKS.iter().find(|task| task.name == name) {
        return start(task, rest);
    }
    if CHECKS.iter().any(|(check, _)| *check == name) {
        return end(verification::replace(&arguments));
    }
    if ["help", "--help", "-h"].contains(&name) {
        // A closed output stream is not an error.
        let _ = io::stdout().write_all(help().as_bytes());
        return ExitCode::SUCCESS;
    }
    refuse(&format!("error: there is no task {name:?}\n\n{}", help()))
}

fn start(task: &Task, arguments: &[OsString]) -> ExitCode {
    let texts: Option<Vec<&str>> = arguments.iter().map(|one| one.to_str()).collect();
    let usage = format!("usage: cargo xtask {} {}", task.name, task.usage);
    let usage = usage.trim_end();
    let Some(texts) = texts else {
        return refuse(&format!("{usage}\n"));
    };
    if let ["--help" | "-h"] = *texts {
        report(task.name, &format!("{}\n{usage}", task.about));
        return ExitCode::SUCCESS;
    }
    match (task.run)(&texts) {
        Ok(false) => refuse(&format!("{usage}\n")),
        Ok(true) => ExitCode::SUCCESS,
        Err(error) => end(Err(error)),
    }
}

/// Runs a task without parameters; returns false if there are arguments.
fn without_arguments(
    arguments: &[&str],
    task: fn() -> Result<(), Failure>,
) -> Result<bool, Failure> {
    match arguments {
        [] => task().map(|()| true),
        _ => Ok(false),
    }
}

fn end(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report("failed", &error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn refuse(reason: &str) -> ExitCode {
    // If standard error is closed, only the exit code reports the error.
    let _ = io::stderr().write_all(reason.as_bytes());
    ExitCode::from(USAGE)
}

fn help() -> String {
    let mut text = "The project's own tasks\n\nUsage: cargo xtask <TASK>\n\nTasks:\n".to_owned();
    for task in TASKS {
        text += &format!("  {:<14} {}\n", task.name, task.about);
    }
    text += "\nChecks, whose program is compiled first; `cargo xtask <CHECK> --help` says more:\n";
    for (name, about) in CHECKS {
        text += &format!("  {name:<14} {about}\n");
    }
    text
}

fn format(check: bool) -> Result<(), Failure> {
    let all = ["fmt", "--all", "--check"];
    run_cargo(if check { &all } else { &all[..2] })
}

fn lint() -> Result<(), Failure> {
    let denied = ["--", "-D", "warnings"];
    let workspace = ["clippy", "--workspace", "--all-targets"];
    run_cargo(&[&workspace[..], &denied].concat())
}

/// Sets of features that users may choose, each with its package: none at all, and each feature of
/// the server by itself.
const FEATURES: &[(&str, &str)] = &[
    ("opa-rego", ""),
    ("opa-reference", ""),
    ("opa-reference", "telemetry"),
    ("opa-reference", "control"),
    ("opa-reference", "control,clouds"),
    ("opa-reference", "control,git"),
    ("opa-reference", "control,postgres"),
];

/// Lints the builds with fewer features.
fn features() -> Result<(), Failure> {
    FEATURES.iter().try_for_each(|(package, features)| {
        report("features", &format!("{package} with [{features}]"));
        let build = ["clippy", "-p", package, "--no-default-features"];
        let chosen = ["--features", features, "--", "-D", "warnings"];
        run_cargo(&[&build[..], &chosen].concat())
    })
}

/// Root folder of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Prints one line about the progress of a task.
#[expect(clippy::print_stdout, reason = "a task speaks to its user")]
fn report(what: &str, of: &str) {
    println!("{what}: {of}");
}
