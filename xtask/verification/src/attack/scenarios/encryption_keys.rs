//! Encryption keys that are lost, wrong or rotated, and files that other users can read.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::attack::findings::Findings;
use crate::attack::harness::Harness;
use crate::attack::tenancy::{self, ENCRYPTION_KEY};
use crate::servers::{Failure, HANG_LIMIT, Process};

/// Valid encryption key other than [`ENCRYPTION_KEY`].
const OTHER_KEY: &str = "Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=\n";

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let start = Instant::now();
    let mut plane = tenancy::plane(harness, &[]).await?;
    let most = tenancy::failed_start(start.elapsed());
    let secret = json!({"value": {"type": "token_auth", "token": "t"}});
    plane.person("admin").put("/v1/secrets/s", secret).await?;
    modes(harness, &mut findings)?;
    tokens(harness, &mut findings, &plane).await?;
    findings.end(&mut plane.process).await?;
    let wrong = harness.file("wrong-key", OTHER_KEY)?;
    let arguments = ["--encryption-key-file", &wrong];
    let mut command = tenancy::command(harness, &arguments)?;
    refuses(&mut findings, "a wrong key", &mut command, (harness, most)).await?;
    lost(harness, &mut findings, most).await?;
    rotated(harness, &mut findings, (&wrong, most)).await?;
    Ok(findings)
}

/// Checks that the server's files are not accessible to other users.
fn modes(harness: &Harness, findings: &mut Findings) -> Result<(), Failure> {
    let mut files = 0;
    for entry in fs::read_dir(&harness.folder)? {
        let path = entry?.path();
        let name = path.display().to_string();
        if name.contains("control.db") {
            files += 1;
            let mode = fs::metadata(&path)?.permissions().mode() & 0o777;
            findings.check(format!("{name} has mode {mode:o}"), mode & 0o077 == 0);
        }
    }
    findings.check("there is no database", files > 0);
    Ok(())
}

/// Checks that at SIGHUP a token removed from the configuration stops working, a new one works, and
/// an invalid configuration changes nothing.
async fn tokens(
    harness: &Harness,
    findings: &mut Findings,
    plane: &tenancy::ControlPlane,
) -> Result<(), Failure> {
    let all = tenancy::tokens();
    let mut fewer = all.clone();
    if let Some(tokens) = fewer.pointer_mut("/tokens").and_then(Value::as_object_mut) {
        tokens.remove("looker");
    }
    for (what, config, status) in [
        ("without it", fewer.to_string(), 401),
        ("that cannot be read", "tokens: [".to_owned(), 401),
        ("with it again", all.to_string(), 200),
    ] {
        harness.file("config.json", &config)?;
        plane.process.signal(Signal::HUP)?;
        let start = Instant::now();
        let found = loop {
            // Waits, because the expected outcome may be no change.
            sleep(Duration::from_secs(1)).await;
            let response = plane
                .person("looker")
                .send("GET", "/v1/bundles", &Value::Null);
            let found = response.await?.0;
            if found == status || start.elapsed() > HANG_LIMIT {
                break found;
            }
        };
        findings.check(format!("a configuration {what}: {found}"), found == status);
        let other = plane
            .person("admin")
            .send("GET", "/v1/bundles", &Value::Null);
        let found = other.await?.0;
        findings.check(format!("{what}: others are answered {found}"), found == 200);
    }
    Ok(())
}

/// Checks that a start fails soon, with an error.
async fn refuses(
    findings: &mut Findings,
    what: &str,
    command: &mut Command,
    (harness, most): (&Harness, Duration),
) -> Result<(), Failure> {
    let start = Instant::now();
    let mut server = Process::spawn(command, &harness.folder)?;
    let ended = server.wait_for_exit(HANG_LIMIT).await?;
    let elapsed = start.elapsed();
    findings.check(
        format!("{what}: the start ends with {ended:?} after {elapsed:.1?}, bound {most:.1?}"),
        ended.is_some_and(|status| !status.success()) && elapsed < most,
    );
    let output = server.output();
    findings.check(format!("{what}: it says {output}"), output.contains("key"));
    Ok(())
}

/// A missing key file is detected before a new one is written.
async fn lost(harness: &Harness, findings: &mut Findings, most: Duration) -> Result<(), Failure> {
    let database = harness.folder.join("beside.db");
    let key = harness.folder.join("beside.db.key");
    let config = harness.folder.join("config.json").display().to_string();
    let url = format!("sqlite:{}", database.display());
    let arguments = ["--config", &config, "--database", &url];
    let mut command = harness.command("control", &arguments);
    let mut plane = tenancy::ControlPlane {
        process: Process::start(&mut command, &harness.folder).await?,
    };
    let secret = json!({"value": {"type": "token_auth", "token": "t"}});
    plane.person("admin").put("/v1/secrets/s", secret).await?;
    findings.end(&mut plane.process).await?;
    let mode = fs::metadata(&key)?.permissions().mode() & 0o777;
    findings.check(format!("the key has mode {mode:o}"), mode & 0o077 == 0);
    let original = fs::read(&key)?;
    fs::remove_file(&key)?;
    let mut command = harness.command("control", &arguments);
    refuses(findings, "a lost key", &mut command, (harness, most)).await?;
    findings.check("a new key was written beside the database", !key.exists());
    fs::write(&key, original)?;
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
    let mut command = harness.command("control", &arguments);
    let started = Process::start(&mut command, &harness.folder).await;
    findings.succeed("the key is there again", started.map(drop));
    Ok(())
}

/// Rotates the key while a server runs and secrets are written.
async fn rotated(
    harness: &Harness,
    findings: &mut Findings,
    (new, most): (&str, Duration),
) -> Result<(), Failure> {
    let old = harness.file("old-key", ENCRYPTION_KEY)?;
    let both = [
        "--encryption-key-file",
        new,
        "--previous-encryption-key-file",
        &old,
    ];
    let mut plane = tenancy::plane(harness, &both).await?;
    let admin = plane.person("admin");
    let url = format!("sqlite:{}", harness.folder.join("control.db").display());
    let mut command = Command::new(&harness.program);
    command.args(["control", "rotate-key", "--database", &url]);
    command.args([
        "--encryption-key-file",
        &old,
        "--new-encryption-key-file",
        new,
    ]);
    let writing = async {
        for number in 0..40 {
            let secret = json!({"value": {"type": "token_auth", "token": number.to_string()}});
            admin.put(&format!("/v1/secrets/s{number}"), secret).await?;
        }
        Ok::<_, Failure>(())
    };
    let rotating = tokio::task::spawn_blocking(move || command.output());
    let (written, rotated) = tokio::join!(writing, rotating);
    findings.succeed("writing secrets meanwhile", written);
    let rotated = rotated??;
    let stderr = String::from_utf8_lossy(&rotated.stderr).into_owned();
    findings.check(format!("rotate-key: {stderr}"), rotated.status.success());
    findings.end(&mut plane.process).await?;
    let mut command = tenancy::command(harness, &["--encryption-key-file", &old])?;
    refuses(findings, "the old key", &mut command, (harness, most)).await?;
    let started = tenancy::plane(harness, &["--encryption-key-file", new]).await;
    findings.succeed("the new key", started.map(drop));
    Ok(())
}
