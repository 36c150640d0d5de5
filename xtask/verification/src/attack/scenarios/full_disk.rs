//! Full disk of an engine that buffers decisions and persists bundles. A limit on file sizes
//! simulates the full disk.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::CALM_POLICY;
use crate::attack::tenancy::eventually;
use crate::bundles::archive;
use crate::servers::{Failure, Peer, PeerScript, Process, Sink, exchange, free_address, request};

/// Maximum file size, in bytes.
const ROOM: u64 = 64 << 10;

/// Number of decisions, of a kilobyte each: several times as many as fit on the disk.
const DECISIONS: usize = 300;

/// Size of the data of a bundle that does not fit on the disk even when compressed, in bytes.
const LARGE: usize = 400 << 10;

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    for full in ["refuse", "drop"] {
        let previous_count = findings.broken.len();
        decisions(harness, &mut findings, full).await?;
        findings.prefix_from(previous_count, full);
    }
    for kind in ["bundles", "discovery"] {
        let previous_count = findings.broken.len();
        check_persistence(harness, &mut findings, kind).await?;
        findings.prefix_from(previous_count, kind);
    }
    Ok(findings)
}

/// Starts an engine with this configuration.
async fn engine(harness: &Harness, config: &Value) -> Result<Process, Failure> {
    let config = harness.file("config.json", &config.to_string())?;
    let calm = harness.file(CALM_POLICY.0, CALM_POLICY.1)?;
    let arguments = ["--log-level", "info", "--config-file", &config, &calm];
    let mut command = harness.command("engine", &arguments);
    command.current_dir(&harness.folder);
    Process::start(&mut command, &harness.folder).await
}

/// Requests a decision; returns the status of `/health`, the status of the decision, and the
/// decision's id.
async fn decide(server: &Process) -> Result<(u16, u16, Option<String>), Failure> {
    let body = json!({"input": {"user": "ann", "text": "x".repeat(1_000)}}).to_string();
    let request_bytes = request("POST", "/v1/data/calm/allow", &body);
    let answer = exchange(server.address, ATTACKER, &request_bytes).await?;
    let body_json = answer.json();
    let id = body_json.get("decision_id").and_then(Value::as_str);
    let health = exchange(server.address, ATTACKER, &request("GET", "/health", "")).await?;
    Ok((health.status(), answer.status(), id.map(str::to_owned)))
}

/// Buffers decisions on a disk that fills up, and then makes room. Checks that each answered
/// decision is delivered, or only the newest one if the log drops decisions.
async fn decisions(harness: &Harness, findings: &mut Findings, full: &str) -> Result<(), Failure> {
    let (sink, port) = (Sink::new(), free_address()?.port());
    let config = json!({
        "services": {"sink": {"url": format!("http://127.0.0.1:{port}")}},
        "decision_logs": {"service": "sink", "reporting": {
            "buffer_type": "disk",
            "buffer_directory": harness.inner(&format!("buffer-{full}"))?,
            "buffer_full": full,
            "min_delay_seconds": 0.1,
            "max_delay_seconds": 0.3,
        }},
    });
    let mut server = engine(harness, &config).await?;
    server.limit_files(Some(ROOM))?;
    let (mut ids, mut refused) = (Vec::new(), 0);
    for _ in 0..DECISIONS {
        let (health, status, id) = decide(&server).await?;
        findings.check(format!("health is {health}"), health == 200);
        match (status, id) {
            (200, Some(id)) => ids.push(id),
            (503, None) => refused += 1,
            (other, id) => {
                findings.check(format!("a decision is {other} with the id {id:?}"), false)
            }
        }
    }
    findings.check(
        format!("{} decisions are answered, {refused} put off", ids.len()),
        !ids.is_empty() && (full == "drop" || refused > 0),
    );
    server.limit_files(None)?;
    let (_, status, id) = decide(&server).await?;
    findings.check(format!("with room a decision is {status}"), status == 200);
    ids.extend(id);
    let expected_ids = match full {
        "refuse" => ids.as_slice(),
        _ => ids.last().map(std::slice::from_ref).unwrap_or_default(),
    };
    let _peer = sink.listen(port).await?;
    let delivered = eventually("what was answered is delivered", || {
        let there = sink.ids();
        expected_ids.iter().all(|id| there.contains(id))
    });
    findings.succeed("the log", delivered.await);
    let garbage = sink.garbage();
    findings.check(format!("the sink was sent {garbage:?}"), garbage.is_none());
    findings.end(&mut server).await
}

/// Current bundle of a bundle server, with its version.
type Served = Arc<Mutex<(u64, Vec<u8>)>>;

/// Builds a bundle that contains its version.
fn bundle(kind: &str, version: u64, length: usize) -> Result<Vec<u8>, Failure> {
    // Marsaglia's xorshift: random data does not compress well.
    let mut state = version + 1;
    let text = (0..length).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + u8::try_from(state % 26).unwrap_or_default())
    });
    let text: String = text.collect();
    let data = match kind {
        "bundles" => json!({"kept": {"version": version, "text": text}}),
        _ => json!({"kept": {"labels": {"number": version.to_string(), "text": text}}}),
    };
    let manifest = json!({"roots": ["kept"]}).to_string();
    let files = [
        (".manifest", manifest.as_str()),
        ("data.json", &data.to_string()),
    ];
    archive::packed(&files).map_err(|error| error.to_string().into())
}

/// Checks that a bundle that does not fit on the disk is activated all the same, and that the
/// persisted bundle remains the intact previous one.
async fn check_persistence(
    harness: &Harness,
    findings: &mut Findings,
    kind: &str,
) -> Result<(), Failure> {
    let small = bundle(kind, 1, 100)?;
    let served: Served = Arc::new(Mutex::new((1, small.clone())));
    let current = Arc::clone(&served);
    let peer = Peer::start(0, move |_| {
        let (version, bundle) = current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        async move { PeerScript::Answer(200, format!("ETag: \"{version}\"\r\n"), bundle) }
    });
    let peer = peer.await?;
    let folder = harness.inner(&format!("kept-{kind}"))?;
    let delays = json!({"min_delay_seconds": 0.1, "max_delay_seconds": 0.2});
    let source = json!({"service": "depot", "resource": "/r", "polling": delays, "persist": true});
    let section = match (kind, source) {
        ("discovery", Value::Object(mut members)) => {
            members.insert("decision".to_owned(), json!("kept"));
            Value::Object(members)
        }
        (_, source) => json!({"rules": source}),
    };
    let config = json!({
        "services": {"depot": {"url": format!("http://{}", peer.address)}},
        "persistence_directory": folder,
        kind: section,
    });
    let mut server = engine(harness, &config).await?;
    findings.succeed("small", active(&server, kind, 1).await);
    let stored = || files(Path::new(&folder));
    let written = eventually("the small bundle is kept", || stored() == [small.clone()]);
    findings.succeed("small", written.await);
    server.limit_files(Some(ROOM))?;
    *served.lock().unwrap_or_else(PoisonError::into_inner) = (2, bundle(kind, 2, LARGE)?);
    findings.succeed("large", active(&server, kind, 2).await);
    let failed = eventually("the log says that the bundle is not kept", || {
        server.output().contains("cannot persist")
    });
    findings.succeed("large", failed.await);
    findings.check(
        format!("{} files are kept, or another one", stored().len()),
        stored() == [small.clone()],
    );
    server.kill();
    drop(peer);
    let mut server = engine(harness, &config).await?;
    findings.succeed("after a restart", active(&server, kind, 1).await);
    findings.end(&mut server).await
}

/// Waits until this version of the bundle is active.
async fn active(server: &Process, kind: &str, version: u64) -> Result<(), String> {
    let (path, pointer, expected) = match kind {
        "bundles" => ("/v1/data/kept/version", "/result", json!(version)),
        _ => (
            "/v1/config",
            "/result/labels/number",
            json!(version.to_string()),
        ),
    };
    for _ in 0..1_200 {
        let response = exchange(server.address, ATTACKER, &request("GET", path, "")).await;
        let answer = response.map_err(|error| error.to_string())?;
        if answer.json().pointer(pointer) == Some(&expected) {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    Err(format!("the version {version} is never active"))
}

/// Returns the contents of all files below a folder.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all = Vec::new();
    for entry in entries {
        match entry.path() {
            path if path.is_dir() => all.extend(files(&path)),
            path => all.extend(fs::read(path)),
        }
    }
    all
}
