//! Tests of the control plane from request to response, on SQLite and on PostgreSQL.
//!
//! Every case is a separate test for each database. The tests on PostgreSQL exist only when
//! `CONFORMANCE_POSTGRES_URL` is set; otherwise they would be reported as passed without having
//! run.

mod config;
mod database_failures;
mod definitions;
mod documents;
mod environment;
mod fairness;
mod hosts;
mod input;
mod keys;
mod listener;
mod outage;
mod paging;
mod paused_replica;
mod races;
mod references;
mod replicas;
mod roles;
mod secrecy;
mod shared;
mod start;
mod storage;
mod storage_locations;
mod storage_repair;
mod transcript;
mod usage;
mod workers;

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use environment::{Database, Environment};

/// Timeout of a case, which only ends hangs. No case depends on timing.
const HANG_LIMIT: std::time::Duration = std::time::Duration::from_secs(120);

/// Future of a case.
type Outcome = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send>>;

/// Name and function of a case. The function gets an environment with an empty database.
type Case = (&'static str, fn(Environment) -> Outcome);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let cases = [
        config::CASES,
        definitions::CASES,
        documents::CASES,
        fairness::CASES,
        hosts::CASES,
        paused_replica::CASES,
        input::CASES,
        keys::CASES,
        paging::CASES,
        storage_locations::CASES,
        races::CASES,
        references::CASES,
        replicas::CASES,
        roles::CASES,
        secrecy::CASES,
        shared::CASES,
        storage_repair::CASES,
        database_failures::CASES,
        usage::CASES,
        workers::CASES,
    ];
    let mut trials = Vec::new();
    for database in Database::present() {
        let own: &[&[Case]] = match database {
            Database::Sqlite => &[start::SQLITE, database_failures::SQLITE],
            Database::Postgres { .. } => &[start::POSTGRES, outage::POSTGRES],
        };
        for (name, case) in cases.iter().chain(own).copied().flatten().copied() {
            let database = database.clone();
            let id = format!("{}/{name}", database.name());
            trials.push(Trial::test(id, move || run(&database, name, case)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn run(database: &Database, name: &str, case: fn(Environment) -> Outcome) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async { case(Environment::create(database, name).await?).await })
}
