//! Files of the control plane itself: database, encryption key and log.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{WATCHED, count, random, stock};
use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::small_disk::SmallDisk;
use crate::attack::tenancy::{self, eventually, tokens};
use crate::servers::{Failure, HANG_LIMIT, Process, exchange, request};

/// Checks that writes are refused until there is room, also after a kill, and acknowledged writes
/// are preserved.
pub(super) async fn database(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let disk = SmallDisk::mount(&harness.inner("disk")?)?;
    let url = format!("sqlite:{}/control.db", disk.path().display());
    let mut plane = tenancy::plane(harness, &["--database", &url]).await?;
    let admin = plane.person("admin");
    admin.bundle("stock", "stock.tgz", stock(1, 100)).await?;
    let first = eventually("the bundle", || {
        count(harness, "stock.tgz") == Some(json!(1))
    });
    findings.succeed("database", first.await);
    disk.fill(0)?;
    let (mut acknowledged, mut refused) = (Vec::new(), 0);
    for number in 0..40_u64 {
        let path = format!("/v1/sources/stock/data/k{number}");
        match admin
            .send("PUT", &path, &json!(random(number, 20_000)))
            .await?
        {
            (200, _) => acknowledged.push(number),
            (503, _) => refused += 1,
            (status, response) => findings.check(format!("database: {status} {response}"), false),
        }
    }
    findings.check(
        format!("database: {refused} writes are put off"),
        refused > 0,
    );
    // Builds continue as far as they can without ending the process.
    sleep(WATCHED).await;
    let (status, _) = admin.send("GET", "/v1/sources/stock", &Value::Null).await?;
    findings.check(format!("database: a read is {status}"), status == 200);
    plane.process.kill();
    let mut command = tenancy::command(harness, &["--database", &url])?;
    let mut full = Process::spawn(&mut command, &harness.folder)?;
    sleep(WATCHED).await;
    if let Some(ended) = full.wait_for_exit(Duration::ZERO).await? {
        let output = full.output();
        let is_reported = !ended.success() && output.contains("full");
        findings.check(
            format!("database: a start on a full disk: {output}"),
            is_reported,
        );
    }
    full.kill();
    disk.empty()?;
    let mut plane = tenancy::plane(harness, &["--database", &url]).await?;
    let admin = plane.person("admin");
    findings.succeed(
        "database",
        admin
            .put("/v1/sources/stock/data/stock", stock(2, 100))
            .await,
    );
    let second = eventually("the bundle with room", || {
        count(harness, "stock.tgz") == Some(json!(2))
    });
    findings.succeed("database", second.await);
    for number in acknowledged {
        let path = format!("/v1/sources/stock/data/k{number}");
        let (_, response) = admin.send("GET", &path, &Value::Null).await?;
        let is_stored = response.get("result") == Some(&json!(random(number, 20_000)));
        findings.check(format!("database: {path} is lost"), is_stored);
    }
    findings.end(&mut plane.process).await
}

/// Checks that no partial key file is written.
pub(super) async fn key(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let disk = SmallDisk::mount(&harness.inner("disk")?)?;
    let config = harness.file("config.json", &tokens().to_string())?;
    let url = format!("sqlite:{}/control.db", disk.path().display());
    let command = || harness.command("control", &["--config", &config, "--database", &url]);
    disk.fill(0)?;
    let mut server = Process::spawn(&mut command(), &harness.folder)?;
    let ended = server.wait_for_exit(HANG_LIMIT).await?;
    let refused = ended.is_some_and(|ended| !ended.success()) && server.output().contains("space");
    findings.check(format!("key: {ended:?} {}", server.output()), refused);
    let files = fs::read_dir(disk.path())?
        .flatten()
        .map(|entry| entry.file_name());
    let left: Vec<_> = files.filter(|name| name != "filler").collect();
    findings.check(format!("key: {left:?} are left"), left.is_empty());
    disk.empty()?;
    for start in ["with room", "again"] {
        let mut server = Process::start(&mut command(), &harness.folder).await;
        match &mut server {
            Ok(server) => findings.end(server).await?,
            Err(error) => findings.check(format!("key: {start}: {error}"), false),
        }
    }
    Ok(())
}

/// Checks that a log on a full disk does not delay requests, and continues once there is room.
pub(super) async fn log(
    harness: &Harness,
    findings: &mut Findings,
    role: &str,
) -> Result<(), Failure> {
    let disk = SmallDisk::mount(&harness.inner("disk")?)?;
    let mut command: Command = match role {
        "control" => tenancy::command(harness, &["--log-level", "debug"])?,
        _ => harness.command(role, &["--log-level", "debug"]),
    };
    let mut server = Process::start(&mut command, disk.path()).await?;
    // The disk fills up in the middle of a line.
    disk.fill(0)?;
    let health = request("GET", "/health", "");
    for _ in 0..500 {
        let answer = exchange(server.address, ATTACKER, &health).await?;
        findings.check(
            format!("{role}: health is {}", answer.status()),
            answer.status() == 200,
        );
    }
    disk.empty()?;
    let length = server.logged()?;
    for _ in 0..10 {
        exchange(server.address, ATTACKER, &health).await?;
    }
    let grown = eventually("the log goes on", || {
        server.logged().is_ok_and(|now| now > length)
    });
    findings.succeed(role, grown.await);
    findings.end(&mut server).await?;
    let output = server.output();
    let is_event = |line: &&str| serde_json::from_str::<Value>(line).is_ok_and(|it| it.is_object());
    let torn = output.lines().filter(|line| !is_event(line)).count();
    findings.check(
        format!("{role}: {torn} lines of the log are torn"),
        torn <= 1,
    );
    findings.check(
        format!("{role}: nothing says what is lost"),
        output.contains("dropped"),
    );
    Ok(())
}
