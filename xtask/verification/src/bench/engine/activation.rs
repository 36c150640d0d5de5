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

/// The time from one question to the next: a client that asks as often as it can takes a processor
/// for itself.
const PAUSE: Duration = Duration::from_millis(1);

/// So long each server is asked before it is the other's turn. It is several times what fetching
/// and activating take.
const WINDOW: Duration = Duration::from_secs(8);
const ROUNDS: usize = 3;

/// The first activation may take so long.
const READY_TIMEOUT: Duration = Duration::from_secs(90);

/// The 99th percentile beside activations, to that of a server without any, ours and a peer's.
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
    let beside = |program: &Path, serve: &[&str]| {
        let calm = Server::start(program, &[serve, &[&policy]].concat(), folder)?;
        let arguments = [serve, &["--config-file", &config, &policy]].concat();
        let busy = Server::start(program, &arguments, folder)?;
        compare(&calm, &busy)
    };
    let ours = beside(&programs.ours, &["engine"])?;
    let theirs = beside(&programs.theirs, programs.peer.serve)?;
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

/// Bundles that are asked for every second, and fetched whole each time, as the server says nothing
/// of what they are.
fn configuration(storage: &HyperBaseline) -> Value {
    json!({
        // What was activated when is asked for.
        "status": {"console": true},
        "services": {"storage": {"url": format!("http://{}", storage.address)}},
        "bundles": {"large": {
            "service": "storage",
            "resource": "large.tar.gz",
            "polling": {"min_delay_seconds": 1, "max_delay_seconds": 1},
        }},
    })
}

/// What activations add to the 99th percentile.
fn compare(calm: &Server, busy: &Server) -> Result<f64, Box<dyn Error>> {
    let begun = Instant::now();
    while busy.client()?.ok("GET", "/health?bundles", "").is_err() {
        if begun.elapsed() > READY_TIMEOUT {
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

/// When the bundle was last activated, as the server says.
fn activated(server: &Server) -> Result<Value, Box<dyn Error>> {
    let mut client = server.client()?;
    client.ok("GET", "/v1/status", "")?;
    let status: Value = serde_json::from_slice(client.body())?;
    let at = status.pointer("/result/bundles/large/last_successful_activation");
    Ok(at.cloned().ok_or("no activation in the status")?)
}

/// The time in seconds that 99 of 100 answers keep, in one window.
fn tail(server: &Server) -> Result<f64, Box<dyn Error>> {
    let mut client = server.client()?;
    let request = Client::request("POST", "/v1/data/beside/allow", QUESTION);
    let mut times = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < WINDOW {
        let asked = Instant::now();
        if client.exchange(&request)? != 200 {
            return Err("a decision failed".into());
        }
        times.push(asked.elapsed().as_secs_f64());
        thread::sleep(PAUSE);
    }
    times.sort_by(f64::total_cmp);
    let tail = times.get(times.len() * 99 / 100).copied();
    tail.ok_or_else(|| "no answer".into())
}
