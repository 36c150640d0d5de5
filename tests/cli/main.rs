//! Tests of the program `conformance`: arguments in, outputs and exit code out.
//!
//! The program belongs to another package, so Cargo does not provide its path to these tests.
//! Instead, this executable acts as the program when an environment variable is set: each case
//! starts it with its own arguments, folder and environment.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod action;
mod adapter;
#[path = "../support/arguments.rs"]
mod arguments;
mod baselines;
mod client;
mod differ;
mod fixture_server;
mod looks;
mod mock;
mod profiles;
mod program;
mod replay;
mod reports;
mod safety;
mod server;
mod shim;
mod stability;
mod store;
mod submit;
mod tools;
mod untrue;
mod usage;
mod verdicts;

use std::process::ExitCode;

use libtest_mimic::Trial;

fn main() -> ExitCode {
    if let Some(address) = fixture_server::engine_is_wanted() {
        server::serve(&address);
    }
    // Checked first: the program starts the adapter, which inherits the variable for the program.
    if let Some(behaviour) = adapter::is_wanted() {
        adapter::serve(&behaviour);
        return ExitCode::SUCCESS;
    }
    if program::is_wanted() {
        return program::main();
    }
    let tests: Vec<(&str, fn())> = [
        action::TESTS,
        usage::TESTS,
        verdicts::TESTS,
        reports::TESTS,
        looks::TESTS,
        fixture_server::TESTS,
        profiles::TESTS,
        baselines::TESTS,
        client::TESTS,
        safety::TESTS,
        shim::TESTS,
        stability::TESTS,
        mock::TESTS,
        submit::TESTS,
        untrue::TESTS,
        tools::TESTS,
        differ::TESTS,
        replay::TESTS,
    ]
    .concat();
    let trials = tests
        .into_iter()
        .map(|(name, test)| {
            Trial::test(name, move || {
                test();
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&arguments::arguments(), trials).exit_code()
}
