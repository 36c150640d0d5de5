//! SQLite databases of a control plane that are locked, corrupt, foreign or full.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::attack::small_disk::SmallDisk;
use crate::attack::tenancy::{self, ControlPlane};
use crate::servers::{Failure, HANG_LIMIT, Message, Process, exchange, request};

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let start = Instant::now();
    let mut plane = tenancy::plane(harness, &[]).await?;
    let most = tenancy::failed_start(start.elapsed());
    foreign(harness, &mut findings, most).await?;
    let admin = plane.person("admin");
    for source in 0..300 {
        let data = json!("x".repeat(4_000));
        let path = format!("/v1/sources/s{source:03}");
        admin.put(&path, json!({})).await?;
        admin.put(&format!("{path}/data/x"), data).await?;
    }
    locked(harness, &mut findings, &plane).await?;
    findings.check_memory(&plane.process, 256)?;
    findings.end(&mut plane.process).await?;
    damaged(harness, &mut findings).await?;
    full(harness, &mut findings).await?;
    Ok(findings)
}

/// Checks that starts with unsuitable databases fail at once with a message for the user.
async fn foreign(
    harness: &Harness,
    findings: &mut Findings,
    most: Duration,
) -> Result<(), Failure> {
    for (what, bytes, message) in [
        (
            "text",
            b"this is a text and no database, whatever its name says\n".repeat(200),
            "not a database",
        ),
        (
            "random",
            (0..20_000_u32)
                .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
                .collect(),
            "not a database",
        ),
    ] {
        let file = harness.folder.join(format!("{what}.db"));
        fs::write(&file, &bytes)?;
        let url = format!("sqlite:{}", file.display());
        refuses(harness, findings, most, (what, &url, message)).await?;
        let is_unchanged = fs::read(&file)? == bytes;
        findings.check(format!("{what}: the file was changed"), is_unchanged);
    }
    let url = format!("sqlite:{}", harness.folder.display());
    refuses(harness, findings, most, ("a folder", &url, "")).await
}

/// Checks that a start with this database fails soon, with this error message.
async fn refuses(
    harness: &Harness,
    findings: &mut Findings,
    most: Duration,
    (what, url, message): (&str, &str, &str),
) -> Result<(), Failure> {
    let mut command = tenancy::command(harness, &["--database", url])?;
    let start = Instant::now();
    let mut server = Process::spawn(&mut command, &harness.folder)?;
    let ended = server.wait_for_exit(HANG_LIMIT).await?;
    let elapsed = start.elapsed();
    findings.check(
        format!("{what}: the start ends with {ended:?}"),
        ended.is_some_and(|status| !status.success()),
    );
    findings.check(
        format!("{what}: the start takes {elapsed:.1?}, bound {most:.1?}"),
        elapsed < most,
    );
    let output = server.output();
    findings.check(
        format!("{what}: it says {output}"),
        output.contains(message),
    );
    Ok(())
}

/// Checks that reads succeed and writes are refused while another process locks the database.
async fn locked(
    harness: &Harness,
    findings: &mut Findings,
    plane: &ControlPlane,
) -> Result<(), Failure> {
    let options = SqliteConnectOptions::new().filename(harness.folder.join("control.db"));
    let mut other = options.connect().await?;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut other).await?;
    let bystander = HealthMonitor::start(plane.process.address, health_monitor::control()).await;
    let admin = plane.person("admin");
    let body = json!(1);
    let (write, read) = tokio::join!(
        admin.send("PUT", "/v1/sources/s000/data/y", &body),
        admin.send("GET", "/v1/sources/s001", &Value::Null),
    );
    let (status, response) = write?;
    findings.check(
        format!("a write while locked: {status} {response}"),
        status == 503,
    );
    let status = read?.0;
    findings.check(format!("a read while locked: {status}"), status == 200);
    sqlx::query("ROLLBACK").execute(&mut other).await?;
    other.close().await?;
    let mut watched = bystander.stop().await?;
    // Health may report that the database is locked, but must respond in time.
    watched
        .failures
        .retain(|failure| !failure.starts_with("GET /health: 500"));
    findings.watch_in_company(watched);
    findings.succeed(
        "a write afterwards",
        admin.put("/v1/sources/s000/data/y", json!(2)).await,
    );
    Ok(())
}

/// Overwrites pages in the middle of the database, and checks that the start fails or health
/// reports the damage.
async fn damaged(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let file = harness.folder.join("control.db");
    // The latest writes may still be in the write-ahead log.
    let mut other = SqliteConnectOptions::new()
        .filename(&file)
        .connect()
        .await?;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut other)
        .await?;
    other.close().await?;
    let mut bytes = fs::read(&file)?;
    let original = bytes.clone();
    let (from, to) = (bytes.len() / 10, bytes.len() * 9 / 10);
    if let Some(middle) = bytes.get_mut(from..to) {
        middle.fill(0x5a);
    }
    fs::write(&file, &bytes)?;
    let mut command = tenancy::command(harness, &[])?;
    let mut server = Process::spawn(&mut command, &harness.folder)?;
    let health = request("GET", "/health", "");
    let start = Instant::now();
    let (ended, response) = loop {
        let ended = server.wait_for_exit(Duration::ZERO).await?;
        let response = exchange(server.address, ATTACKER, &health).await.ok();
        let is_reported = response
            .as_ref()
            .is_some_and(|response| response.status() == 500);
        if ended.is_some() || is_reported || start.elapsed() > HANG_LIMIT {
            break (ended, response);
        }
        sleep(Duration::from_millis(100)).await;
    };
    match ended {
        Some(status) => {
            let output = server.output();
            findings.check(format!("damaged: ended with {status}"), !status.success());
            findings.check(
                format!("damaged: it says {output}"),
                output.contains("malformed") || output.contains("damaged"),
            );
        }
        None => {
            let status = response.as_ref().map(Message::status);
            let text = response.map(|response| response.text().to_string());
            findings.check(
                format!("damaged: health says {status:?} {text:?}"),
                status == Some(500),
            );
            server.kill();
        }
    }
    fs::write(&file, original)?;
    let mut plane = tenancy::plane(harness, &[]).await?;
    let (status, _) = plane
        .person("admin")
        .send("GET", "/v1/sources/s250", &Value::Null)
        .await?;
    findings.check(format!("made whole again: {status}"), status == 200);
    findings.end(&mut plane.process).await
}

/// Checks that writes to a database on a full disk are refused with 503, and acknowledged writes
/// are preserved.
async fn full(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let folder = harness.inner("small")?;
    let disk = SmallDisk::mount(&folder)?;
    let url = format!("sqlite:{folder}/control.db");
    let mut plane = tenancy::plane(harness, &["--database", &url]).await?;
    let admin = plane.person("admin");
    admin.put("/v1/sources/big", json!({})).await?;
    let (mut acknowledged, mut refused) = (Vec::new(), Vec::new());
    for number in 0..60 {
        let path = format!("/v1/sources/big/data/k{number}");
        let (status, response) = admin
            .send("PUT", &path, &json!("x".repeat(100_000)))
            .await?;
        match status {
            200 => acknowledged.push(path),
            _ => refused.push((status, response)),
        }
    }
    findings.check("the disk was never full", !refused.is_empty());
    let other = refused.iter().find(|(status, _)| *status != 503);
    findings.check(
        format!("a write to a full disk: {other:?}"),
        other.is_none(),
    );
    let mut missing = 0;
    for path in &acknowledged {
        let (status, _) = admin.send("GET", path, &Value::Null).await?;
        missing += usize::from(status != 200);
    }
    findings.check(
        format!("{missing} acknowledged writes are lost"),
        missing == 0,
    );
    findings.end(&mut plane.process).await?;
    drop(disk);
    Ok(())
}
