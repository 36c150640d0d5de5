//! Control plane as a separate process: signals, limits and crashes.

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;
use sqlx::{Connection, Row, SqliteConnection};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;

use crate::wire::HANG_LIMIT;

type Done<T = ()> = Result<T, Box<dyn Error>>;

const TOKENS: &str = "tokens: {admin: {api_key: admin-key, scopes: [{role: administrator}]}}";

/// Encryption keys, by file name.
const KEYS: [(&str, &str); 2] = [
    ("old", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="),
    ("new", "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="),
];

/// Control plane process, killed at the end of the test.
struct ControlPlane {
    process: Child,
    address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl ControlPlane {
    /// Starts a control plane in a folder; the shell script sets limits before it.
    fn start(folder: &Path, script: &str, role: &str) -> Done<Self> {
        let database = format!("sqlite:{}", folder.join("control.db").display());
        let mut process = Command::new("sh");
        process
            .args(["-c", &format!("{script} exec \"$0\" \"$@\"")])
            .args([env!("CARGO_BIN_EXE_reference"), role])
            .args(["--addr", "127.0.0.1:0", "--database", &database])
            .arg("--encryption-key-file")
            .arg(folder.join("old"))
            .arg("--config")
            .arg(folder.join("config.yaml"));
        if role == "all" {
            process.args(["--control-addr", "127.0.0.1:0"]);
        }
        let mut process = process.stderr(Stdio::piped()).spawn()?;
        let lines = BufReader::new(process.stderr.take().ok_or("no log")?).lines();
        let log = Arc::new(Mutex::new(String::new()));
        let log_writer = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut log = log_writer.lock().unwrap_or_else(PoisonError::into_inner);
                log.push_str(&line);
                log.push('\n');
            }
        });
        let mut plane = Self {
            process,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            log,
        };
        let listens = "the control plane is listening";
        plane.wait_for(listens)?;
        let log = plane.log();
        let line = log.lines().find(|line| line.contains(listens));
        let line: Value = serde_json::from_str(line.unwrap_or_default())?;
        let address = line.get("address").and_then(Value::as_str);
        plane.address = address.unwrap_or_default().parse()?;
        Ok(plane)
    }

    fn log(&self) -> String {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.clone()
    }

    /// Waits until the log contains a string.
    fn wait_for(&mut self, words: &str) -> Done {
        let started = Instant::now();
        while !self.log().contains(words) {
            if started.elapsed() > HANG_LIMIT || self.process.try_wait()?.is_some() {
                return Err(format!("no `{words}` in: {}", self.log()).into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn pid(&self) -> Done<Pid> {
        let pid = Pid::from_raw(self.process.id().try_into()?);
        pid.ok_or_else(|| "no process".into())
    }

    async fn connect(&self) -> Done<BufStream<TcpStream>> {
        Ok(BufStream::new(TcpStream::connect(self.address).await?))
    }

    /// Sends a request on a new connection; returns the status and the body.
    async fn send_request(&self, method: &str, target: &str, body: &str) -> Done<(u16, String)> {
        send_request(
            &mut self.connect().await?,
            "admin-key",
            method,
            target,
            body,
        )
        .await
    }
}

/// Sends a request on an existing connection; returns the status and the body.
async fn send_request(
    stream: &mut BufStream<TcpStream>,
    key: &str,
    method: &str,
    target: &str,
    body: &str,
) -> Done<(u16, String)> {
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    stream.flush().await?;
    let mut status = String::new();
    stream.read_line(&mut status).await?;
    let code = status.split(' ').nth(1).unwrap_or_default().parse()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok((code, String::from_utf8(body)?))
}

fn folder() -> Done<TempDir> {
    let folder = TempDir::new()?;
    for (name, key) in KEYS {
        fs::write(folder.path().join(name), key)?;
    }
    fs::write(folder.path().join("config.yaml"), TOKENS)?;
    Ok(folder)
}

#[tokio::test]
async fn a_hangup_changes_the_keys_of_open_connections() -> Done {
    for role in ["control", "all"] {
        let folder = folder()?;
        let mut plane = ControlPlane::start(folder.path(), "", role)?;
        let mut open = plane.connect().await?;
        let list = "/v1/bundles";
        assert_eq!(
            send_request(&mut open, "admin-key", "GET", list, "")
                .await?
                .0,
            200
        );
        assert_eq!(
            send_request(&mut open, "late-key", "GET", list, "")
                .await?
                .0,
            401
        );
        let config = folder.path().join("config.yaml");
        fs::write(&config, TOKENS.replace("admin-key", "late-key"))?;
        kill_process(plane.pid()?, Signal::HUP)?;
        plane.wait_for("the control plane's configuration was read again")?;
        assert_eq!(
            send_request(&mut open, "admin-key", "GET", list, "")
                .await?
                .0,
            401
        );
        assert_eq!(
            send_request(&mut open, "late-key", "GET", list, "")
                .await?
                .0,
            200
        );
        fs::write(&config, "tokens: [")?;
        kill_process(plane.pid()?, Signal::HUP)?;
        plane
            .wait_for("the control plane's configuration cannot be reloaded and stays unchanged")?;
        assert!(plane.log().contains("config.yaml:"), "{}", plane.log());
        assert_eq!(
            send_request(&mut open, "late-key", "GET", list, "")
                .await?
                .0,
            200
        );
        kill_process(plane.pid()?, Signal::TERM)?;
        assert!(plane.process.wait()?.success());
    }
    Ok(())
}

/// A limit on the size of files, which simulates a full disk.
#[tokio::test]
async fn a_full_disk_is_unavailable_until_there_is_room() -> Done {
    let folder = folder()?;
    let plane = ControlPlane::start(folder.path(), "ulimit -S -f 4096;", "control")?;
    assert_eq!(
        plane.send_request("PUT", "/v1/sources/s", "{}").await?.0,
        200
    );
    let document = format!("\"{}\"", "x".repeat(100_000));
    let mut stored = 0;
    let refused = loop {
        let target = format!("/v1/sources/s/data/d{stored}");
        match plane.send_request("PUT", &target, &document).await? {
            (200, _) if stored < 1_000 => stored += 1,
            refused => break refused,
        }
    };
    assert!(stored > 0 && refused.0 == 503, "{stored}: {refused:?}");
    assert!(refused.1.contains("\"unavailable\""), "{refused:?}");
    for at in 0..stored {
        let target = format!("/v1/sources/s/data/d{at}");
        assert_eq!(plane.send_request("GET", &target, "").await?.0, 200, "{at}");
    }
    let started = Instant::now();
    loop {
        let (status, body) = plane.send_request("GET", "/health", "").await?;
        if status == 500 && (body.contains("disk fails") || body.contains("full")) {
            break;
        }
        assert!(started.elapsed() < HANG_LIMIT, "{status} {body}");
        // The health check may find space for its small write when there is none for a document.
        plane
            .send_request("PUT", "/v1/sources/s/data/small", "1")
            .await?;
    }
    let unlimited = Rlimit {
        current: None,
        maximum: None,
    };
    prlimit(Some(plane.pid()?), Resource::Fsize, unlimited)?;
    let started = Instant::now();
    while plane
        .send_request("PUT", "/v1/sources/s/data/more", &document)
        .await?
        .0
        != 200
    {
        assert!(started.elapsed() < HANG_LIMIT);
    }
    while plane.send_request("GET", "/health", "").await?.0 != 200 {
        assert!(started.elapsed() < HANG_LIMIT);
    }
    for at in 0..stored {
        let target = format!("/v1/sources/s/data/d{at}");
        assert_eq!(plane.send_request("GET", &target, "").await?.0, 200, "{at}");
    }
    Ok(())
}

/// Returns the distinct ids of the keys that secrets are sealed with, that of the key check first.
async fn key_ids(folder: &Path) -> Done<Vec<String>> {
    let database = format!("sqlite:{}", folder.join("control.db").display());
    let mut database = SqliteConnection::connect(&database).await?;
    let ids = "SELECT DISTINCT substr(sealed, 1, 17) FROM keyring UNION \
               SELECT DISTINCT substr(definition, 1, 17) FROM resources WHERE kind = 'secret'";
    let mut found = Vec::new();
    for row in sqlx::query(ids).fetch_all(&mut database).await? {
        found.push(row.try_get(0)?);
    }
    database.close().await?;
    Ok(found)
}

#[tokio::test]
async fn a_killed_rotation_leaves_all_secrets_with_one_key() -> Done {
    let folder = folder()?;
    let secrets: Vec<String> = (0..1_500)
        .map(|at| format!("k{at}: {{type: token_auth, token: t{at}}}"))
        .collect();
    let config = format!("{TOKENS}\nsecrets: {{{}}}", secrets.join(", "));
    fs::write(folder.path().join("config.yaml"), config)?;
    drop(ControlPlane::start(folder.path(), "", "control")?);
    let database = format!("sqlite:{}", folder.path().join("control.db").display());
    let rotate = |old: &str, new: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reference"));
        command
            .args(["control", "rotate-key", "--database", &database])
            .arg("--encryption-key-file")
            .arg(folder.path().join(old))
            .arg("--new-encryption-key-file")
            .arg(folder.path().join(new))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let first = key_ids(folder.path()).await?;
    assert_eq!(first.len(), 1, "{first:?}");
    let started = Instant::now();
    let done = rotate("old", "new").output()?;
    let mut took = started.elapsed();
    let output = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert_eq!(output, "1500 secrets are encrypted with the new key\n");
    let second = key_ids(folder.path()).await?;
    assert!(second.len() == 1 && second != first, "{second:?}");
    let (mut now, mut killed, mut names) = (second, 0, ["new", "old"]);
    for part in 1..=12 {
        let mut running = rotate(names[0], names[1]).spawn()?;
        let some = took * part / 12;
        tokio::time::sleep(some).await;
        running.kill()?;
        match running.wait()?.success() {
            // The rotation has ended before the kill, so this time is an upper bound of its
            // duration.
            true => took = some,
            false => killed += 1,
        }
        let found = key_ids(folder.path()).await?;
        assert_eq!(found.len(), 1, "a half rotation: {found:?}");
        if found != now {
            now = found;
            names.reverse();
        }
    }
    assert!(killed > 0, "no rotation was killed in {took:?}");
    // After every crash, the two keys open all secrets.
    assert!(rotate(names[0], names[1]).output()?.status.success());
    Ok(())
}
