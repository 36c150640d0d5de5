//! Clock jumps, forwards and backwards.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::apt;
use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::attack::tenancy::{self, ControlPlane, built, eventually};
use crate::servers::{Failure, Process, Sink, exchange_ok, request};

/// Debian package and library that fake the clock of a process.
const LIBRARY: (&str, &str) = (
    "libfaketime",
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
);

/// Jumps of the clock, relative to the system's time.
const JUMPS: &[&str] = &["+1h", "-1d", "+0", "+10y", "-30d", "+0"];

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    apt::require(&[LIBRARY]).map_err(|error| error.to_string())?;
    let mut findings = Findings::default();
    let clock = harness.file("clock", "+0")?;
    let environment = [
        ("LD_PRELOAD", LIBRARY.1),
        ("FAKETIME_TIMESTAMP_FILE", &clock),
        ("FAKETIME_NO_CACHE", "1"),
        // Monotonic clocks do not jump on real machines either.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
    ];
    let sink = Sink::new();
    let peer = sink.listen(0).await?;
    let config = harness.logging(peer.address)?;
    let calm = harness.file(health_monitor::CALM_POLICY.0, health_monitor::CALM_POLICY.1)?;
    let mut command = harness.command("engine", &["--config-file", &config, &calm]);
    let mut engine = Process::start(command.envs(environment), &harness.folder).await?;
    let mut command = tenancy::command(harness, &[])?;
    let process = Process::start(command.envs(environment), &harness.folder).await?;
    let mut plane = ControlPlane { process };
    let admin = plane.person("admin");
    let bystander = HealthMonitor::start(engine.address, health_monitor::engine(None)).await;
    for (count, jump) in JUMPS.iter().enumerate() {
        harness.file("clock", jump)?;
        sleep(Duration::from_millis(500)).await;
        admin.bundle("jumped", "jumped.tgz", json!(count)).await?;
        let expected = json!({"jumped": count});
        let there = eventually("the bundle", || {
            built(harness, "jumped.tgz").as_ref() == Some(&expected)
        });
        findings.succeed(&format!("{jump}: build"), there.await);
        let body = json!({"input": {"user": "ann"}}).to_string();
        let request_bytes = request("POST", "/v1/data/calm/allow", &body);
        let answer = exchange_ok(engine.address, ATTACKER, &request_bytes)
            .await?
            .json();
        let id = answer
            .get("decision_id")
            .and_then(|id| id.as_str())
            .unwrap_or("none")
            .to_owned();
        let logged = eventually("the decision", || sink.ids().contains(&id));
        findings.succeed(&format!("{jump}: decision log"), logged.await);
    }
    findings.watch_in_company(bystander.stop().await?);
    findings.end(&mut engine).await?;
    findings.end(&mut plane.process).await?;
    Ok(findings)
}
