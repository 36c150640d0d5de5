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

/// API key of an administrator of the measured control planes.
const KEY: &str = "bench-administrator-key";

/// Command-line options of `bench`.
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
    /// Runs the selected benchmark, prints its ratios, and compares them with their bounds.
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

/// Returns the token configuration that declares the API key.
fn tokens() -> Value {
    json!({"bench": {"api_key": KEY, "scopes": [{"role": "administrator"}]}})
}

/// Sends a JSON request with the API key to a control plane; it must succeed.
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
            let body_text = String::from_utf8_lossy(client.body());
            Err(format!("{method} {path}: {status} {body_text}").into())
        }
    }
}

/// Creates a folder for a server's files, in memory if the system supports it: the time of durable
/// writes on a disk is not measured, and varies more than the results.
fn scratch() -> io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

/// Median of the samples.
fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
