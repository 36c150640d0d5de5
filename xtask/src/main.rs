//! The project's own tasks.

mod coverage;

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
    /// Show how much of each document the scenarios cover; fail on a clause that is silent
    Coverage,
}

fn main() -> ExitCode {
    match Cli::parse().task {
        Task::Coverage => coverage::run(),
    }
}
