//! Measurements, always as ratios taken in one run: how cost grows with what is stored, and
//! what the suite adds to a request.

mod compile;
mod control;
mod engine;
mod storage;
mod suite;

use std::error::Error;
use std::io;

use clap::Subcommand;
use tempfile::TempDir;

/// What is measured.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Bench {
    /// Create, get, list-page and in-use delete of the control plane at growing sizes; or how long
    /// a change takes until its bundle is in storage.
    Control(control::Choice),
    /// Residuals and filters beside the real OPA, with 1, 100 and 1,000 modules loaded.
    Compile,
    /// Our engine beside the real OPA: evaluator, throughput, changes, memory, start-up; and the
    /// evaluator beside regorus.
    Engine(engine::Choice),
    /// The suite's cost per request beside a bare client that sends the same requests.
    Suite,
}

impl Bench {
    /// Measures, prints the ratios, and holds them against their bounds.
    ///
    /// # Errors
    /// When a bound is exceeded or the server fails.
    pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Control(choice) => control::run(choice),
            Self::Compile => compile::run(),
            Self::Engine(choice) => engine::run(choice),
            Self::Suite => suite::run(),
        }
    }
}

/// A folder for a server's files, in memory where the system has such a place: how long a disk
/// takes to make a write durable is no matter of what is measured, and varies more than it.
fn scratch() -> io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

/// The value in the middle: half of the samples took no longer.
fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
