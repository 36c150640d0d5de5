//! Checks that take a long time or need other programs, started by `cargo xtask`.

mod apt;
mod attack;
mod bench;
mod builtins;
mod bundles;
#[path = "../../src/cargo.rs"]
mod cargo;
#[cfg(test)]
#[path = "../../src/check_names.rs"]
mod check_names;
mod client_examples;
mod clients;
mod command;
mod coverage;
mod evidence;
mod evidence_pack;
mod examples;
mod filters;
mod findings;
mod fuzz_opa;
mod kill_matrix;
mod lock_files;
mod mock_examples;
mod ocp_examples;
mod opa_logs;
mod opa_versions;
mod path_spellings;
mod postgres;
mod postgres_store;
mod program;
mod random_cases;
mod real_opa;
mod rego_cases;
mod release_build;
mod releases;
mod report_page;
mod residuals;
mod servers;
mod shim_examples;
mod site;
mod soak;
mod stored_evidence;
mod submissions;
mod tolerance;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The checks of the project")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the real OPA at its pinned version and run the suite on it, and on the other servers of
    /// `results/` that are on the search path
    Peers {
        /// Keep the evidence of the other servers in `results/`
        #[arg(long)]
        keep: bool,
    },
    /// Judge the evidence in `results/` again by the rules of today
    Results,
    /// Play the reproducers of FINDINGS.md on the real servers, and compare what they show
    Findings {
        /// Only the findings whose title contains this
        only: Option<String>,
        /// Write what they show instead of comparing
        #[arg(long)]
        bless: bool,
    },
    /// Play the end-to-end examples of OPA Control Plane, and compare the files of their bundles with
    /// those that it makes
    OcpExamples(ocp_examples::Options),
    /// Compare the keys and types of what the engine and the real OPA write to their logs
    OpaLogs,
    /// Compare what the authorization policy is shown of each spelling of a path with the real OPA
    PathSpellings,
    /// Compare what callers of client libraries see of the engine and of the real OPA
    Clients,
    /// Test a client with `conformance mock` in each language of `examples/mock/`
    MockExamples,
    /// Judge the clients of `examples/client/` behind their adapters
    ClientExamples {
        /// Update what COMPATIBILITY.md says of clients instead of comparing, and keep what was seen
        /// of them in `results/clients/`
        #[arg(long)]
        bless: bool,
    },
    /// Judge the libraries of `examples/shim/` behind `conformance shim`
    ShimExamples {
        /// Keep what was seen of them in `results/libraries/`
        #[arg(long)]
        bless: bool,
    },
    /// Run the language cases of the pinned OPA module through the crate `rego`
    RegoCases {
        /// Only the cases whose id contains this
        only: Option<String>,
        /// Show listed cases and whole folders too
        #[arg(long)]
        list: bool,
    },
    /// Compare generated calls of every built-in function with the real OPA
    Builtins(builtins::Options),
    /// Compare generated policies and queries with the real OPA
    FuzzOpa {
        /// How many policies
        #[arg(long, default_value_t = 2_000)]
        cases: u32,
        /// Seed of the random policies
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Compare what partial evaluation leaves of generated policies with what they mean
    Residuals {
        /// How many policies
        #[arg(long, default_value_t = 3_000)]
        cases: u32,
        /// Seed of the random policies
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Compare the rows that filters select in databases with those for which the rule is true
    Filters {
        /// How many random policies beside the written ones
        #[arg(long, default_value_t = 2_000)]
        cases: usize,
        /// Seed of the random policies
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Ask SQLite alone, which needs no server
        #[arg(long)]
        sqlite_only: bool,
    },
    /// End-to-end tests of bundles: real storage, git servers, engines, replicas, kills
    Bundles {
        /// How many seconds engines follow changes
        #[arg(long, default_value_t = 600)]
        seconds: u64,
        /// How often a control plane is killed
        #[arg(long, default_value_t = 200)]
        kills: u64,
    },
    /// Run the store suite of the control plane on a real PostgreSQL
    Store,
    /// Inject every fault into the reference, and compare which rules notice with
    /// `faults/kill-matrix.txt`; the same with the faults of clients; then the general mutants, and
    /// trivial servers
    KillMatrix {
        /// Update the file instead of comparing
        #[arg(long)]
        bless: bool,
    },
    /// Vary the reference as the documents allow, and check that no rule fails but those that
    /// `variants/known.toml` lists
    Tolerance,
    /// Run attacks on live servers, and check that other clients are unaffected
    Attack(attack::Options),
    /// Soak test: compare every answer of both servers with a model, and memory with that at the
    /// start
    Soak {
        /// How many seconds
        #[arg(long, default_value_t = 3_600)]
        seconds: u64,
        /// The program, instead of one that is built
        #[arg(long)]
        program: Option<PathBuf>,
    },
    /// Test the HTML report in Chromium; pictures are left in `target/report-page`
    ReportPage,
    /// Make static pages about every implementation with stored evidence
    Site(site::Options),
    /// Judge the submissions in `results/` again: whether each says what its evidence shows
    Submissions {
        /// The folders; all below `results/`, unless said
        folders: Vec<PathBuf>,
    },
    /// Run the suite on released versions of the real OPA, and compare the result with
    /// COMPATIBILITY.md
    Matrix {
        /// Update the page instead of comparing
        #[arg(long)]
        bless: bool,
        /// Every release that `xtask/verification/opa-releases.toml` names, for `results/opa-releases.md`
        #[arg(long)]
        all: bool,
        /// Of these only the releases that are built already
        #[arg(long, requires = "all")]
        built: bool,
    },
    /// Show how much of each document the scenarios cover; fail on an uncovered clause
    Coverage,
    /// Measure, as ratios taken in one run
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    // The HTTP client uses the process's default provider; only a second installation could fail.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let result = match Cli::parse().task {
        Task::Peers { keep } => real_opa::run(keep),
        Task::Results => stored_evidence::run(),
        Task::Findings { only, bless } => findings::run(only.as_deref(), bless),
        Task::OcpExamples(options) => ocp_examples::run(&options),
        Task::OpaLogs => opa_logs::run(),
        Task::PathSpellings => path_spellings::run(),
        Task::Clients => clients::run(),
        Task::MockExamples => mock_examples::run(),
        Task::ClientExamples { bless } => client_examples::run(bless),
        Task::ShimExamples { bless } => shim_examples::run(bless),
        Task::RegoCases { only, list } => rego_cases::run(only.as_deref(), list),
        Task::Builtins(options) => builtins::run(&options),
        Task::FuzzOpa { cases, seed } => fuzz_opa::run(cases, seed),
        Task::Residuals { cases, seed } => residuals::run(cases, seed),
        Task::Filters {
            cases,
            seed,
            sqlite_only,
        } => filters::run(cases, seed, sqlite_only),
        Task::Bundles { seconds, kills } => bundles::run(seconds, kills),
        Task::Store => postgres_store::run(),
        Task::Matrix {
            bless, all: false, ..
        } => opa_versions::run(bless),
        Task::Matrix { bless, built, .. } => opa_versions::run_all(bless, built),
        Task::KillMatrix { bless } => kill_matrix::run(bless),
        Task::Tolerance => tolerance::run(),
        Task::Attack(options) => attack::run(&options),
        Task::Soak { seconds, program } => soak::run(seconds, program.as_deref()),
        Task::ReportPage => report_page::run(),
        Task::Site(options) => site::run(&options),
        Task::Submissions { folders } => submissions::run(&folders),
        Task::Coverage => return coverage::run(),
        Task::Bench(bench) => bench.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report("failed", &error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Root folder of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Prints one line about the progress of a task.
#[expect(clippy::print_stdout, reason = "a task speaks to its user")]
fn report(what: &str, of: &str) {
    println!("{what}: {of}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{Cli, check_names};

    /// Checks that `cargo xtask --help`, which is printed without running this program, lists exactly
    /// the commands of this program.
    #[test]
    fn every_check_is_listed_as_it_is_described() {
        let command = Cli::command();
        let taken = command.get_subcommands().map(|check| {
            let description = check.get_about().map(ToString::to_string);
            (check.get_name().to_owned(), description.unwrap_or_default())
        });
        let listed = check_names::CHECKS
            .iter()
            .map(|(name, description)| ((*name).to_owned(), (*description).to_owned()));
        assert_eq!(taken.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
    }
}
