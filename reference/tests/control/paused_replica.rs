//! Two processes on one database; one of them is paused in the middle of its writes.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use reference::control::Control;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::{Value, json};

use crate::environment::{Environment, TOKENS, send};
use crate::storage::{ServerMode, Storage};
use crate::transcript::run_script;
use crate::workers::{eventually, status, storage, unpacked};
use crate::{Case, HANG_LIMIT, Outcome};

pub(crate) const CASES: &[Case] = &[("a-process-that-stood-still-replaces-nothing", stood_still)];

/// Names of the bundles on the storage server, one per kind of storage.
const OBJECTS: &[&str] = &["aws", "azure", "gcp"];

/// Name of the bundle in a folder, and the size of its data in bytes. Large data take longer to
/// write.
const FILE: &str = "file";
const BLOB: usize = 3 << 20;

/// Maximum number of attempts to pause the process while it writes the file.
const TRIES: u32 = 600;

/// Server process; killed when dropped.
struct Process(Child);

impl Process {
    /// Starts a control plane that builds bundles, on the database of an environment.
    fn start(environment: &Environment, name: &str) -> Result<Self, Failed> {
        let tokens = environment.file("tokens.yaml", TOKENS)?;
        let log = File::create(environment.folder().join(format!("{name}.log")))?;
        let child = Command::new(env!("CARGO_BIN_EXE_reference"))
            .args([
                "control",
                "--addr",
                "127.0.0.1:0",
                "--database",
                environment.url(),
            ])
            .arg("--encryption-key-file")
            .arg(environment.folder().join("key"))
            .arg("--config")
            .arg(tokens)
            .arg("--bundle-root")
            .arg(storage(environment)?)
            .arg("--data-dir")
            .arg(environment.folder().join(name))
            .args(["--allow-host", "127.0.0.1", "--allow-secrets-over-http"])
            .args(["--rebuild-interval", "500ms"])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(Self(child))
    }

    fn signal(&self, signal: Signal) -> Result<(), Failed> {
        let id = Pid::from_child(&self.0);
        Ok(kill_process(id, signal)?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already.
        let _killed = self.0.kill();
        let _waited = self.0.wait();
    }
}

fn stood_still(environment: Environment) -> Outcome {
    Box::pin(async move {
        let server = Storage::start().await?;
        // This control plane only changes definitions; the processes build them.
        let api = environment
            .open_builder(&[
                "--allow-host",
                "127.0.0.1",
                "--allow-secrets-over-http",
                "--no-builder",
            ])
            .await?;
        define(&api, &server).await?;
        let first = Process::start(&environment, "first")?;
        push_all(&api, 1).await?;
        all_hold(&environment, &server, 1).await?;
        for kind in OBJECTS {
            status(&api, kind, "SUCCESS").await?;
        }
        server.behave(ServerMode::Stalls);
        for kind in OBJECTS {
            push(&api, kind, 2).await?;
        }
        eventually("the writes hang", || async {
            Ok((server.waiting() == OBJECTS.len()).then_some(()))
        })
        .await?;
        stop_in_write(&api, &environment, &first).await?;
        server.pass_new();
        push_all(&api, 1000).await?;
        let _second = Process::start(&environment, "second")?;
        all_hold(&environment, &server, 1000).await?;
        server.behave(ServerMode::Faithful);
        first.signal(Signal::CONT)?;
        let log = environment.folder().join("first.log");
        eventually(
            "the first one knows that it has lost its bundles",
            || async {
                let log_text = std::fs::read_to_string(&log)?;
                let lost = log_text.matches("a build has lost its bundle").count();
                Ok((lost > OBJECTS.len()).then_some(()))
            },
        )
        .await?;
        // The last retry of the first process is not observable, so the storages are polled for a
        // while.
        for _ in 0..100 {
            for kind in OBJECTS.iter().chain([&FILE]) {
                let stored = stored_value(&environment, &server, kind)?;
                if stored != Some(json!(1000)) {
                    return Err(format!("{kind} holds {stored:?} again").into());
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for kind in OBJECTS {
            let writes = server.writes(kind);
            let values = writes.iter().map(|bytes| value(bytes));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            if values.contains(&json!(2)) {
                return Err(format!("{kind} was written late: {values:?}").into());
            }
        }
        Ok(())
    })
}

async fn define(api: &Arc<Control>, server: &Storage) -> Result<(), Failed> {
    run_script(api, &server.secrets()).await?;
    for kind in OBJECTS.iter().chain([&FILE]) {
        let place = match *kind {
            FILE => r#"{"filesystem":{"path":"file"}}"#.to_owned(),
            kind => server.place(kind, kind),
        };
        let script = format!(
            r#"
            admin PUT /v1/sources/{kind} {{}} => 200
            admin PUT /v1/bundles/{kind} {{"object_storage":{place},"requirements":[{{"source":"{kind}"}}]}} => 200
            "#
        );
        run_script(api, &script).await?;
    }
    // Random data, which gzip cannot compress well.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let blob = std::iter::repeat_with(|| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        format!("{random:016x}")
    });
    let blob: String = blob.take(BLOB / 16).collect();
    let target = format!("/v1/sources/{FILE}/data/blob");
    let reply = send(api, "admin", "PUT", &target, format!("\"{blob}\"")).await?;
    match reply.status.as_u16() {
        200 => Ok(()),
        status => Err(format!("the blob was answered {status}").into()),
    }
}

async fn push(api: &Arc<Control>, kind: &str, value: u32) -> Result<(), Failed> {
    run_script(
        api,
        &format!("admin PUT /v1/sources/{kind}/data/v {value} => 200"),
    )
    .await
}

async fn push_all(api: &Arc<Control>, value: u32) -> Result<(), Failed> {
    for kind in OBJECTS.iter().chain([&FILE]) {
        push(api, kind, value).await?;
    }
    Ok(())
}

fn value(bundle: &[u8]) -> Result<Value, Failed> {
    let documents = unpacked(bundle)?;
    Ok(documents.get("v").cloned().unwrap_or_default())
}

/// Returns the value in the stored bundle of a kind.
fn stored_value(
    environment: &Environment,
    server: &Storage,
    kind: &str,
) -> Result<Option<Value>, Failed> {
    let bytes = match kind {
        FILE => std::fs::read(storage(environment)?.join(FILE)).ok(),
        kind => server.object(kind),
    };
    bytes.map(|bytes| value(&bytes)).transpose()
}

async fn all_hold(environment: &Environment, server: &Storage, value: u32) -> Result<(), Failed> {
    for kind in OBJECTS.iter().chain([&FILE]) {
        eventually(&format!("{kind} holds {value}"), || async {
            Ok((stored_value(environment, server, kind)? == Some(json!(value))).then_some(()))
        })
        .await?;
    }
    Ok(())
}

/// Pauses a process while the temporary file exists and is not yet renamed.
async fn stop_in_write(
    api: &Arc<Control>,
    environment: &Environment,
    process: &Process,
) -> Result<(), Failed> {
    let storage = storage(environment)?;
    let staging = storage.join(".partial-bundles");
    // Each write replaces the file by another one, with a new inode number.
    let file = || storage.join(FILE).metadata().map(|file| file.ino()).ok();
    let started = Instant::now();
    for value in 0..TRIES {
        let before = file();
        push(api, FILE, 100 + value).await?;
        while !is_used(&staging) && file() == before {
            if started.elapsed() > HANG_LIMIT {
                return Err("the file is never written".into());
            }
            // The file exists for a very short time; a short sleep lets other processes run.
            std::thread::sleep(Duration::from_micros(50));
        }
        process.signal(Signal::STOP)?;
        // The signal takes effect with a delay.
        waitpid(Some(Pid::from_child(&process.0)), WaitOptions::UNTRACED)?;
        if is_used(&staging) {
            return Ok(());
        }
        process.signal(Signal::CONT)?;
    }
    Err("the process was never stopped while it wrote".into())
}

fn is_used(staging: &Path) -> bool {
    let entries = std::fs::read_dir(staging);
    entries.is_ok_and(|mut entries| entries.next().is_some())
}
