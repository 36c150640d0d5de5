//! The project's own tasks.

mod attack;
mod bench;
mod bundles;
mod ci;
mod coverage;
mod debian;
mod filters;
mod fuzz_opa;
mod kill_matrix;
mod matrix;
mod peers;
mod postgres;
mod program;
mod rego_cases;
mod report_page;
mod residuals;
mod seeded;
mod servers;
mod soak;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Every check of a commit beside the two commands of the README
    Ci,
    /// Build the real peers at their pinned versions and judge them by the whole suite
    Peers,
    /// Run the language cases of the pinned OPA module through the crate `rego`
    RegoCases {
        /// Only the cases whose id contains this
        only: Option<String>,
        /// Show listed cases and whole folders too
        #[arg(long)]
        list: bool,
    },
    /// Compare generated policies and queries with the real OPA
    FuzzOpa {
        /// How many policies
        #[arg(long, default_value_t = 2_000)]
        cases: u32,
        /// Where the random policies begin, to make others
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Compare what partial evaluation leaves of generated policies with what they mean
    Residuals {
        /// How many policies
        #[arg(long, default_value_t = 3_000)]
        cases: u32,
        /// Where the random policies begin, to make others
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Compare the rows that filters select in databases with those for which the rule is true
    Filters {
        /// How many random policies beside the written ones
        #[arg(long, default_value_t = 2_000)]
        cases: usize,
        /// Where the random policies begin, to make others
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Take bundles from definitions to decisions: real storage, git servers, engines, replicas,
    /// kills
    Bundles {
        /// How long engines follow changes
        #[arg(long, default_value_t = 600)]
        seconds: u64,
        /// How often a control plane is killed
        #[arg(long, default_value_t = 200)]
        kills: u64,
    },
    /// Break the reference in every known way, and hold which rules notice against
    /// `faults/kill-matrix.txt`; then the general mutants, and servers that do nothing
    KillMatrix {
        /// Write the matrix down instead
        #[arg(long)]
        bless: bool,
    },
    /// Play attacks on running servers, and hold that nobody else notices
    Attack(attack::Options),
    /// Use both servers in every way for a long time, hold every answer against a model, and
    /// memory against its beginning
    Soak {
        /// How long
        #[arg(long, default_value_t = 3_600)]
        seconds: u64,
        /// The program, instead of one that is built
        #[arg(long)]
        program: Option<PathBuf>,
    },
    /// Try the HTML report in Chromium; pictures are left in `target/report-page`
    ReportPage,
    /// Judge released versions of the real OPA, and the reference, and hold the result against
    /// COMPATIBILITY.md
    Matrix {
        /// Write the page instead
        #[arg(long)]
        bless: bool,
    },
    /// Show how much of each document the scenarios cover; fail on a clause that is silent
    Coverage,
    /// Measure, as ratios taken in one run
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    // The client of the measurements takes the process's provider; only a second one could fail.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let result = match Cli::parse().task {
        Task::Ci => ci::run(),
        Task::Peers => peers::run(),
        Task::RegoCases { only, list } => rego_cases::run(only.as_deref(), list),
        Task::FuzzOpa { cases, seed } => fuzz_opa::run(cases, seed),
        Task::Residuals { cases, seed } => residuals::run(cases, seed),
        Task::Filters { cases, seed } => filters::run(cases, seed),
        Task::Bundles { seconds, kills } => bundles::run(seconds, kills),
        Task::Matrix { bless } => matrix::run(bless),
        Task::KillMatrix { bless } => kill_matrix::run(bless),
        Task::Attack(options) => attack::run(&options),
        Task::Soak { seconds, program } => soak::run(seconds, program.as_deref()),
        Task::ReportPage => report_page::run(),
        Task::Coverage => return coverage::run(),
        Task::Bench(bench) => bench.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            report("failed", &why.to_string());
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Says one line of what a task does.
#[expect(clippy::print_stdout, reason = "a task speaks to its user")]
fn report(what: &str, of: &str) {
    println!("{what}: {of}");
}
