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
use crate::servers::{Failure, HANG_LIMIT, Message, Process, ask, request};

pub(super) async fn play(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let begun = Instant::now();
    let mut plane = tenancy::plane(harness, &[]).await?;
    let most = tenancy::failed_start(begun.elapsed());
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
    for (what, bytes, says) in [
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
        refuses(harness, findings, most, (what, &url, says)).await?;
        let kept = fs::read(&file)? == bytes;
        findings.hold(format!("{what}: the file was changed"), kept);
    }
    let url = format!("sqlite:{}", harness.folder.display());
    refuses(harness, findings, most, ("a folder", &url, "")).await
}

/// Checks that a start with this database fails soon, with this error message.
async fn refuses(
    harness: &Harness,
    findings: &mut Findings,
    most: Duration,
    (what, url, says): (&str, &str, &str),
) -> Result<(), Failure> {
    let mut command = tenancy::command(harness, &["--database", url])?;
    let begun = Instant::now();
    let mut server = Process::spawn(&mut command, &harness.folder)?;
    let ended = server.ends(HANG_LIMIT).await?;
    let took = begun.elapsed();
    findings.hold(
        format!("{what}: the start ends with {ended:?}"),
        ended.is_some_and(|status| !status.success()),
    );
    findings.hold(
        format!("{what}: the start takes {took:.1?}, bound {most:.1?}"),
        took < most,
    );
    let said = server.said();
    findings.hold(format!("{what}: it says {said}"), said.contains(says));
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
    let (status, said) = write?;
    findings.hold(
        format!("a write while locked: {status} {said}"),
        status == 503,
    );
    let status = read?.0;
    findings.hold(format!("a read while locked: {status}"), status == 200);
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
    let whole = bytes.clone();
    let (from, to) = (bytes.len() / 10, bytes.len() * 9 / 10);
    if let Some(middle) = bytes.get_mut(from..to) {
        middle.fill(0x5a);
    }
    fs::write(&file, &bytes)?;
    let mut command = tenancy::command(harness, &[])?;
    let mut server = Process::spawn(&mut command, &harness.folder)?;
    let health = request("GET", "/health", "");
    let begun = Instant::now();
    let (ended, told) = loop {
        let ended = server.ends(Duration::ZERO).await?;
        let told = ask(server.address, ATTACKER, &health).await.ok();
        let is_told = told.as_ref().is_some_and(|told| told.status() == 500);
        if ended.is_some() || is_told || begun.elapsed() > HANG_LIMIT {
            break (ended, told);
        }
        sleep(Duration::from_millis(100)).await;
    };
    match ended {
        Some(status) => {
            let said = server.said();
            findings.hold(format!("damaged: ended with {status}"), !status.success());
            findings.hold(
                format!("damaged: it says {said}"),
                said.contains("malformed") || said.contains("damaged"),
            );
        }
        None => {
            let status = told.as_ref().map(Message::status);
            let text = told.map(|told| told.text().to_string());
            findings.hold(
                format!("damaged: health says {status:?} {text:?}"),
                status == Some(500),
            );
            server.kill();
        }
    }
    fs::write(&file, whole)?;
    let mut plane = tenancy::plane(harness, &[]).await?;
    let (status, _) = plane
        .person("admin")
        .send("GET", "/v1/sources/s250", &Value::Null)
        .await?;
    findings.hold(format!("made whole again: {status}"), status == 200);
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
        let (status, said) = admin
            .send("PUT", &path, &json!("x".repeat(100_000)))
            .await?;
        match status {
            200 => acknowledged.push(path),
            _ => refused.push((status, said)),
        }
    }
    findings.hold("the disk was never full", !refused.is_empty());
    let other = refused.iter().find(|(status, _)| *status != 503);
    findings.hold(
        format!("a write to a full disk: {other:?}"),
        other.is_none(),
    );
    let mut missing = 0;
    for path in &acknowledged {
        let (status, _) = admin.send("GET", path, &Value::Null).await?;
        missing += usize::from(status != 200);
    }
    findings.hold(
        format!("{missing} acknowledged writes are lost"),
        missing == 0,
    );
    findings.end(&mut plane.process).await?;
    drop(disk);
    Ok(())
}
