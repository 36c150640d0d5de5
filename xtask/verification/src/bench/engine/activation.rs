//! Latency of decisions during activations of a 100 MB bundle.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::hyper_baseline::HyperBaseline;
use super::scaling::{LARGE, users};
use super::side_by_side::Programs;
use super::{Bound, Limit, median};
use crate::bundles::archive::packed;
use crate::report;
use crate::servers::{Client, Server};

const POLICY: &str = "package beside\n\nallow if input.role in [\"reader\", \"writer\"]\n";
const QUESTION: &str = r#"{"input": {"role": "writer"}}"#;

/// Pause between requests: a client that sends requests without a pause uses a whole processor.
const PAUSE: Duration = Duration::from_millis(1);

/// Measurement window of each server in a turn: several times the duration of fetching and
/// activating the bundle.
const WINDOW: Duration = Duration::from_secs(8);
const ROUNDS: usize = 3;

/// Time limit of the first activation.
const READY_TIMEOUT: Duration = Duration::from_secs(90);

/// Measures the ratio of the 99th percentile of latencies during activations to that without any,
/// for our engine and a peer.
pub(super) fn measure(programs: &Programs, folder: &Path) -> Result<Vec<Bound>, Box<dyn Error>> {
    let policy = folder.join("beside.rego");
    fs::write(&policy, POLICY)?;
    let manifest = json!({"revision": "1", "roots": ["large"]}).to_string();
    let document = format!(r#"{{"large":{}}}"#, users(LARGE));
    let bundle = packed(&[(".manifest", &manifest), ("data.json", &document)])?;
    let storage = HyperBaseline::start(&bundle)?;
    let config = folder.join("activation.json");
    fs::write(&config, configuration(&storage).to_string())?;
    let (policy, config) = (policy.display().to_string(), config.display().to_string());
    let measure_program = |program: &Path, serve: &[&str]| {
        let calm = Server::start(program, &[serve, &[&policy]].concat(), folder)?;
        let arguments = [serve, &["--config-file", &config, &policy]].concat();
        let busy = Server::start(program, &arguments, folder)?;
        compare(&calm, &busy)
    };
    let ours = measure_program(&programs.ours, &["engine"])?;
    let theirs = measure_program(&programs.theirs, programs.peer.serve)?;
    let what = "99th percentile beside activations of 100 MB, to that without";
    Ok(vec![
        Bound::new(format!("{what}, ours"), ours, Limit::AtMost(2.0)).towards(1.2),
        Bound::new(
            format!("{what}, {}", programs.peer.name),
            theirs,
            Limit::Any,
        ),
    ])
}

/// Returns a configuration that polls the bundle every second and downloads it each time, as the
/// server sends no ETag.
fn configuration(storage: &HyperBaseline) -> Value {
    json!({
        // Enables the status endpoint, which reports activation times.
        "status": {"console": true},
        "services": {"storage": {"url": format!("http://{}", storage.address)}},
        "bundles": {"large": {
            "service": "storage",
            "resource": "large.tar.gz",
            "polling": {"min_delay_seconds": 1, "max_delay_seconds": 1},
        }},
    })
}

/// Returns the ratio of the 99th percentile of a server that activates bundles to that of a calm
/// one.
fn compare(calm: &Server, busy: &Server) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    while busy.client()?.ok("GET", "/health?bundles", "").is_err() {
        if start.elapsed() > READY_TIMEOUT {
            return Err("the bundle is not activated".into());
        }
        thread::sleep(Duration::from_millis(100));
    }
    let (mut ratios, mut tails) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let calm = tail(calm)?;
        let before = activated(busy)?;
        let busy_tail = tail(busy)?;
        if activated(busy)? == before {
            return Err("nothing was activated meanwhile".into());
        }
        if round > 0 {
            ratios.push(busy_tail / calm);
            tails.push(busy_tail);
        }
    }
    let milliseconds = median(&mut tails) * 1e3;
    report(
        "99th percentile beside activations",
        &format!("{milliseconds:.2} ms"),
    );
    Ok(median(&mut ratios))
}

/// Returns the timestamp of the last activation from the status endpoint.
fn activated(server: &Server) -> Result<Value, Box<dyn Error>> {
    let mut client = server.client()?;
    client.ok("GET", "/v1/status", "")?;
    let status: Value = serde_json::from_slice(client.body())?;
    let at = status.pointer("/result/bundles/large/last_successful_activation");
    Ok(at.cloned().ok_or("no activation in the status")?)
}

/// Returns the 99th percentile of latencies in one window, in seconds.
fn tail(server: &Server) -> Result<f64, Box<dyn Error>> {
    let mut client = server.client()?;
    let request = Client::request("POST", "/v1/data/beside/allow", QUESTION);
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < WINDOW {
        let sent_at = Instant::now();
        if client.exchange(&request)? != 200 {
            return Err("a decision failed".into());
        }
        times.push(sent_at.elapsed().as_secs_f64());
        thread::sleep(PAUSE);
    }
    times.sort_by(f64::total_cmp);
    let tail = times.get(times.len() * 99 / 100).copied();
    tail.ok_or_else(|| "no answer".into())
}
