//! `cargo xtask coverage`: the tables of `conformance coverage`. Fails if a rule has neither a
//! scenario nor a pending capability.

use std::io::Write as _;
use std::process::ExitCode;

use conformance::catalogue::Catalogue;
use conformance::coverage::Coverage;

/// Prints the coverage tables.
pub(crate) fn run() -> ExitCode {
    let catalogue = match Catalogue::embedded() {
        Ok(catalogue) => catalogue,
        Err(error) => return failed(&error.to_string()),
    };
    let coverage = Coverage::of(catalogue);
    if let Err(error) = write!(std::io::stdout(), "{coverage}") {
        return failed(&error.to_string());
    }
    let silent = coverage.total.rules_silent();
    if silent > 0 {
        return failed(&format!(
            "{silent} rules have neither a scenario nor a pending capability; `cargo test --test registry` names them"
        ));
    }
    ExitCode::SUCCESS
}

fn failed(what: &str) -> ExitCode {
    // If standard error is closed, only the exit code reports the error.
    let _ = writeln!(std::io::stderr(), "error: {what}");
    ExitCode::FAILURE
}
