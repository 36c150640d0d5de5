//! Benchmarks, always as ratios within one run.

mod compare_ocp;
mod compile;
mod control;
mod engine;
mod storage;
mod suite;

use std::error::Error;
use std::io;

use clap::Subcommand;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::servers::Client;

/// The key of an administrator of control planes that are measured.
const KEY: &str = "bench-administrator-key";

/// What is measured.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Bench {
    /// Create, get, list-page and in-use delete of the control plane at growing sizes; or how long
    /// a change takes until its bundle is in storage; or requests beside OPA Control Plane.
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

/// The tokens of a configuration that knows the key.
fn tokens() -> Value {
    json!({"bench": {"api_key": KEY, "scopes": [{"role": "administrator"}]}})
}

/// Sends a control plane a JSON request with the key, which must succeed.
fn send_keyed(
    client: &mut Client,
    method: &str,
    path: &str,
    body: &str,
) -> Result<(), Box<dyn Error>> {
    let lines = format!("Authorization: Bearer {KEY}\r\nContent-Type: application/json\r\n");
    let request = Client::request_with(method, path, &lines, body);
    match client.exchange(&request)? {
        200 => Ok(()),
        status => {
            let said = String::from_utf8_lossy(client.body());
            Err(format!("{method} {path}: {status} {said}").into())
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
