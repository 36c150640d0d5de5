//! Decision logs with a sink that is down, fails, hangs or lies, while the engine is killed.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{
    Failure, FailureMode, HANG_LIMIT, Process, Sink, Wire, free_address, request,
};

/// Number of concurrent clients.
const CLIENTS: u64 = 4;

/// Size limit of a small buffer, in bytes.
const SMALL: u64 = 2 << 20;

/// Engine's sink of decision logs, and the configuration of its buffer.
struct Logging<'s> {
    harness: &'s Harness,
    sink: Sink,
    port: u16,
    /// Further members of the configuration `reporting`.
    further: Value,
}

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let port = free_address()?.port();
    let mut logging = Logging {
        harness,
        sink: Sink::new(),
        port,
        further: json!({"buffer_sync": "always"}),
    };
    killed(&mut findings, &logging).await?;
    moods(&mut findings, &logging).await?;
    for full in ["refuse", "drop"] {
        logging.further = json!({"buffer_full": full, "buffer_disk_size_limit_bytes": SMALL});
        filled(&mut findings, &logging, full).await?;
    }
    Ok(findings)
}

impl Logging<'_> {
    /// Starts an engine that continues the buffer of the previous engines.
    async fn engine(&self) -> Result<Process, Failure> {
        let mut reporting = json!({
            "buffer_type": "disk",
            "buffer_directory": self.harness.inner("buffer")?,
            "min_delay_seconds": 0.1,
            "max_delay_seconds": 0.3,
        });
        if let (Some(all), Some(further)) = (reporting.as_object_mut(), self.further.as_object()) {
            all.extend(further.clone());
        }
        let config = json!({
            "services": {"sink": {"url": format!("http://127.0.0.1:{}", self.port)}},
            "decision_logs": {"service": "sink", "reporting": reporting},
        });
        let file = self.harness.file("config.json", &config.to_string())?;
        self.harness.engine(&["--config-file", &file], &[]).await
    }

    /// Waits until every acknowledged decision has arrived at the sink.
    async fn delivered(&self, acknowledged: &[String]) -> Result<(), String> {
        let start = Instant::now();
        loop {
            let there: BTreeSet<String> = self.sink.ids().into_iter().collect();
            let missing = acknowledged
                .iter()
                .filter(|id| !there.contains(*id))
                .count();
            if missing == 0 {
                return match self.sink.garbage() {
                    None => Ok(()),
                    Some(garbage) => Err(format!("the sink was sent garbage: {garbage}")),
                };
            }
            if start.elapsed() > HANG_LIMIT {
                return Err(format!("{missing} of {} are missing", acknowledged.len()));
            }
            sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Requests decisions for a while over several connections; returns the ids of the acknowledged
/// decisions of each client, in order, and the number of refused decisions.
async fn decide(server: &Process, time: Duration, padding: usize) -> (Vec<Vec<String>>, u64) {
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let to = server.address;
        clients.spawn(async move {
            let (mut ids, mut refused) = (Vec::new(), 0);
            let start = Instant::now();
            let Ok(mut client) = Wire::connect(to, ATTACKER).await else {
                return (ids, refused);
            };
            let input = json!({"input": {"user": "ann", "n": number, "x": "x".repeat(padding)}});
            let request_bytes = request("POST", "/v1/data/calm/allow", &input.to_string());
            while start.elapsed() < time {
                let Ok(answer) = client.exchange(&request_bytes).await else {
                    break;
                };
                let body = answer.json();
                match (
                    answer.status(),
                    body.get("decision_id").and_then(Value::as_str),
                ) {
                    (200, Some(id)) => ids.push(id.to_owned()),
                    _ => refused += 1,
                }
            }
            (ids, refused)
        });
    }
    let (mut all, mut refused) = (Vec::new(), 0);
    while let Some(Ok((ids, more))) = clients.join_next().await {
        all.push(ids);
        refused += more;
    }
    (all, refused)
}

/// Kills the engine while the sink is down, while the sink accepts, and while clients write. An
/// incomplete entry, left by a kill, must not prevent delivery.
async fn killed(findings: &mut Findings, logging: &Logging<'_>) -> Result<(), Failure> {
    let kills = if logging.harness.long { 20 } else { 4 };
    let mut acknowledged = Vec::new();
    for kill in 0..kills {
        let mut server = logging.engine().await?;
        // Every other round runs with a sink.
        let sink = match kill % 2 {
            0 => None,
            _ => Some(logging.sink.listen(logging.port).await?),
        };
        let deciding = decide(&server, Duration::from_secs(30), 0);
        let killing = async {
            sleep(Duration::from_millis(900 + 37 * kill)).await;
            server_kill(&server);
        };
        let ((ids, _), ()) = tokio::join!(deciding, killing);
        acknowledged.extend(ids.into_iter().flatten());
        server.kill();
        drop(sink);
        if kill == 1 {
            spoil_end(&logging.harness.folder.join("buffer"))?;
        }
    }
    let mut server = logging.engine().await?;
    let sink = logging.sink.listen(logging.port).await?;
    let delivered = logging.delivered(&acknowledged).await;
    findings.check("nothing was acknowledged", acknowledged.len() > 100);
    findings.succeed(&format!("{kills} kills"), delivered);
    findings.check_memory(&server, 256)?;
    findings.end(&mut server).await?;
    drop(sink);
    Ok(())
}

/// Sends SIGKILL to the process while clients wait for responses.
fn server_kill(server: &Process) {
    // The process exists, because nothing else ends it.
    let _sent = server.signal(rustix::process::Signal::KILL);
}

/// Appends half an entry to the newest file of the buffer.
fn spoil_end(folder: &std::path::Path) -> Result<(), Failure> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    files.sort();
    if let Some((_, newest)) = files.last() {
        let mut file = fs::File::options().append(true).open(newest)?;
        file.write_all(&[0x7b, 0x22, 0xff, 0x00, 0x17])?;
    }
    Ok(())
}

/// Checks delivery to sinks that reject events, or accept them without a response, and then
/// recover.
async fn moods(findings: &mut Findings, logging: &Logging<'_>) -> Result<(), Failure> {
    let mut server = logging.engine().await?;
    let _sink = logging.sink.listen(logging.port).await?;
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    for mood in [
        FailureMode::Fails,
        FailureMode::HangsUp,
        FailureMode::TakesAndHangsUp,
        FailureMode::Hangs,
    ] {
        logging.sink.clear();
        logging.sink.set(mood);
        let (mut ids, refused) = decide(&server, Duration::from_secs(1), 0).await;
        findings.check(
            format!("{mood:?}: {refused} decisions were put off"),
            refused == 0,
        );
        logging.sink.set(FailureMode::Good);
        if mood == FailureMode::Hangs {
            // Only a restart reliably ends an upload that hangs this early.
            server.kill();
            server = logging.engine().await?;
        }
        let delivered = logging.delivered(&ids.concat()).await;
        findings.succeed(&format!("{mood:?}"), delivered);
        // The log has the order of each client.
        let order = logging.sink.ids();
        let mut seen = BTreeSet::new();
        let once: Vec<&String> = order.iter().filter(|id| seen.insert(*id)).collect();
        let first = ids.pop().unwrap_or_default();
        let expected_ids: BTreeSet<&String> = first.iter().collect();
        let received_ids: Vec<&String> = once
            .into_iter()
            .filter(|id| expected_ids.contains(id))
            .collect();
        let ordered = received_ids.iter().copied().eq(first.iter());
        findings.check(format!("{mood:?}: the order is lost"), ordered);
        if mood == FailureMode::Fails {
            let doubled = order.len() - seen.len();
            findings.check(format!("{mood:?}: {doubled} came twice"), doubled == 0);
        }
    }
    let mut watched = bystander.stop().await?;
    // Probes failed while the server was killed.
    watched.failures.clear();
    findings.watch_in_company(watched);
    findings.end(&mut server).await?;
    Ok(())
}

/// Makes more decisions than fit in the buffer.
async fn filled(findings: &mut Findings, logging: &Logging<'_>, full: &str) -> Result<(), Failure> {
    let mut server = logging.engine().await?;
    logging.sink.clear();
    let (ids, refused) = decide(&server, Duration::from_secs(4), 4_000).await;
    let ids = ids.concat();
    let buffer = logging.harness.folder.join("buffer");
    let buffered = buffered_bytes(&buffer)?;
    findings.check(
        format!("{full}: the buffer holds {buffered} bytes, its limit is {SMALL}"),
        buffered <= SMALL * 2,
    );
    findings.check(
        format!("{full}: {} acknowledged, {refused} put off", ids.len()),
        (full == "refuse") == (refused > 0),
    );
    let _sink = logging.sink.listen(logging.port).await?;
    if full == "refuse" {
        findings.succeed("what was acknowledged", logging.delivered(&ids).await);
    } else if let Some(last) = ids.last() {
        let last = logging.delivered(std::slice::from_ref(last)).await;
        findings.succeed("the newest of those that were kept", last);
    }
    findings.end(&mut server).await
}

/// Returns the total size of the files in the buffer's folder, in bytes.
///
/// # Errors
/// When a file is accessible to other users.
fn buffered_bytes(folder: &std::path::Path) -> Result<u64, Failure> {
    let mut all = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = entry.metadata()?;
        if found.permissions().mode() & 0o077 != 0 {
            return Err(format!("{} is for everybody", entry.path().display()).into());
        }
        all += found.len();
    }
    Ok(all)
}
