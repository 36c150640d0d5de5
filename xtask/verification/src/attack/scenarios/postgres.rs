//! PostgreSQL that restarts, crashes, is partitioned and hangs while a control plane writes to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::health_monitor::BYSTANDER;
use crate::attack::tenancy::{self, User};
use crate::postgres::Postgres;
use crate::servers::{Failure, HANG_LIMIT, Proxy, ProxyMode, exchange, request};

const WRITERS: u64 = 4;

/// Numbers of requests and responses of a writer.
#[derive(Debug, Default)]
struct WriterState {
    acknowledged: u64,
    sent: u64,
    refused: u64,
    /// Latest response that is neither a success nor 503, or latest I/O error.
    wrong: Option<String>,
}

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let postgres = Postgres::start().map_err(|error| error.to_string())?;
    let proxy = Proxy::start(postgres.address()).await?;
    let url = format!("postgres://postgres@{}/postgres", proxy.address);
    let mut plane = tenancy::plane(harness, &["--database", &url]).await?;
    let admin = plane.person("admin");
    for writer in 0..WRITERS {
        admin
            .put(&format!("/v1/sources/w{writer}"), json!({}))
            .await?;
    }
    let failures: [(&str, Option<ProxyMode>); 4] = [
        ("restart", None),
        ("crash", None),
        ("cut off", Some(ProxyMode::Cut)),
        ("no answer", Some(ProxyMode::Blocked)),
    ];
    for (what, proxy_mode) in failures {
        let over = Arc::new(AtomicBool::new(false));
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(write(admin, writer, Arc::clone(&over)));
        }
        sleep(Duration::from_millis(700)).await;
        match proxy_mode {
            Some(proxy_mode) => {
                proxy.set(proxy_mode);
                sleep(Duration::from_secs(3)).await;
                others(&mut findings, plane.process.address, what).await;
                proxy.set(ProxyMode::Open);
            }
            None => {
                let mode = if what == "crash" { "immediate" } else { "fast" };
                postgres.restart(mode).map_err(|error| error.to_string())?;
            }
        }
        let start = Instant::now();
        let recovered = recovers(admin, start).await;
        findings.succeed(&format!("{what}: afterwards"), recovered);
        over.store(true, Ordering::SeqCst);
        let mut writer = 0;
        while let Some(known) = writers.join_next().await {
            let (number, known) = known?;
            writer += known.acknowledged;
            judge(&mut findings, admin, what, (number, known)).await?;
        }
        findings.check(format!("{what}: nothing was written"), writer > 10);
    }
    findings.check_memory(&plane.process, 256)?;
    findings.end(&mut plane.process).await?;
    Ok(findings)
}

/// Writes consecutive numbers until stopped.
async fn write(admin: User, writer: u64, over: Arc<AtomicBool>) -> (u64, WriterState) {
    let path = format!("/v1/sources/w{writer}/data/count");
    let mut known = WriterState::default();
    while !over.load(Ordering::SeqCst) {
        known.sent += 1;
        let answer = admin.send("PUT", &path, &json!(known.sent)).await;
        match answer {
            Ok((200, _)) => known.acknowledged = known.sent,
            Ok((503, _)) => {
                known.refused += 1;
                sleep(Duration::from_millis(50)).await;
            }
            Ok((status, response)) => known.wrong = Some(format!("{status} {response}")),
            Err(error) => known.wrong = Some(error.to_string()),
        }
    }
    (writer, known)
}

/// Compares a writer's acknowledged number with the stored one.
async fn judge(
    findings: &mut Findings,
    admin: User,
    what: &str,
    (writer, known): (u64, WriterState),
) -> Result<(), Failure> {
    let path = format!("/v1/sources/w{writer}/data/count");
    let (_, response) = admin.send("GET", &path, &Value::Null).await?;
    let stored = response.get("result").and_then(Value::as_u64).unwrap_or(0);
    findings.check(
        format!("{what}: {path} holds {stored}, known is {known:?}"),
        stored >= known.acknowledged && stored <= known.sent,
    );
    findings.check(
        format!("{what}: a writer was answered {:?}", known.wrong),
        known.wrong.is_none(),
    );
    Ok(())
}

/// Checks that health fails and metrics are served while the database is unavailable.
async fn others(findings: &mut Findings, to: std::net::SocketAddr, what: &str) {
    for (path, status) in [("/health", 500), ("/metrics", 200)] {
        let request_bytes = request("GET", path, "");
        let answer = exchange(to, BYSTANDER, &request_bytes).await;
        let result = match answer {
            Ok(answer) if answer.status() == status => Ok(()),
            Ok(answer) => Err(answer.status().to_string()),
            Err(error) => Err(error.to_string()),
        };
        findings.succeed(&format!("{what}: {path}"), result);
    }
}

/// Waits until a write succeeds after an outage.
async fn recovers(admin: User, start: Instant) -> Result<(), String> {
    loop {
        let answer = admin
            .send("PUT", "/v1/sources/w0/data/other", &json!(1))
            .await;
        if matches!(answer, Ok((200, _))) {
            return Ok(());
        }
        if start.elapsed() > HANG_LIMIT {
            return Err(format!("{answer:?}"));
        }
        sleep(Duration::from_millis(100)).await;
    }
}
