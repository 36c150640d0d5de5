//! Stored objects: workers compare and repair them, and never replace them by older ones.

use std::path::PathBuf;
use std::sync::Arc;

use libtest_mimic::Failed;
use reference::control::{Control, Workers};
use serde_json::{Value, json};

use crate::environment::{Environment, send, text};
use crate::storage::{ServerMode, Storage};
use crate::transcript::run_script;
use crate::workers::{counted, eventually, status, storage, unpacked};
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[
    ("what-is-damaged-is-written-again", repairs),
    ("what-is-damaged-is-found-at-a-start", repairs_at_start),
    ("a-stalled-write-replaces-nothing-newer", fences),
    ("storages-that-fail-are-tried-again", failures),
    ("a-storage-that-hangs-holds-up-its-own-bundle", hanging),
    ("a-clock-that-is-put-back-stops-nothing", clock),
];

/// Kinds of storages; each is also the name of a bundle.
const KINDS: &[&str] = &["file", "aws", "azure", "gcp"];

/// Rebuild interval of a control plane that compares objects often.
const SHORT: &str = "100ms";

/// Control plane with workers, a storage server and a bundle folder.
struct Scene {
    environment: Environment,
    server: Storage,
    control: Arc<Control>,
    workers: Workers,
}

impl Scene {
    /// Starts a control plane that may write to the storage server.
    async fn start(
        environment: Environment,
        server: Option<Storage>,
        interval: &str,
        further: &[&str],
    ) -> Result<Self, Failed> {
        let server = match server {
            Some(server) => server,
            None => Storage::start().await?,
        };
        let folder = storage(&environment)?.display().to_string();
        let mut arguments = vec![
            "--bundle-root",
            &folder,
            "--allow-host",
            "127.0.0.1",
            "--allow-secrets-over-http",
        ];
        arguments.extend(["--rebuild-interval", interval]);
        arguments.extend(further);
        let control = environment.open_builder(&arguments).await?;
        let workers = control.start_workers().await?;
        run_script(&control, &server.secrets()).await?;
        Ok(Self {
            environment,
            server,
            control,
            workers,
        })
    }

    /// Restarts the control plane.
    async fn restarted(self, interval: &str) -> Result<Self, Failed> {
        self.workers.shutdown().await;
        Self::start(self.environment, Some(self.server), interval, &[]).await
    }

    /// Returns a request that stores a bundle with a source of its own, in a kind of storage.
    fn bundle(&self, kind: &str, name: &str) -> String {
        let place = match kind {
            "file" => format!(r#"{{"filesystem":{{"path":"{name}"}}}}"#),
            kind => self.server.place(kind, name),
        };
        format!(
            r#"admin PUT /v1/bundles/{name} {{"object_storage":{place},"requirements":[{{"source":"{name}"}}]}} => 200"#
        )
    }

    /// Stores a bundle and its source, in a kind of storage.
    async fn put(&self, kind: &str, name: &str) -> Result<(), Failed> {
        let source = format!("admin PUT /v1/sources/{name} {{}} => 200");
        run_script(&self.control, &[source, self.bundle(kind, name)].join("\n")).await
    }

    async fn push(&self, name: &str, value: u32) -> Result<(), Failed> {
        let push = format!("admin PUT /v1/sources/{name}/data/v {value} => 200");
        run_script(&self.control, &push).await
    }

    fn file(&self, name: &str) -> Result<PathBuf, Failed> {
        Ok(storage(&self.environment)?.join(name))
    }

    /// Returns the stored object of a bundle.
    fn stored_bytes(&self, kind: &str, name: &str) -> Result<Option<Vec<u8>>, Failed> {
        Ok(match kind {
            "file" => std::fs::read(self.file(name)?).ok(),
            _ => self.server.object(name),
        })
    }

    /// Waits until the stored object of a bundle contains a value.
    async fn wait_for_value(&self, kind: &str, name: &str, value: u32) -> Result<(), Failed> {
        let expected = json!({"v": value});
        eventually(&format!("{name} holds {value}"), || async {
            let stored = self.stored_bytes(kind, name)?;
            let stored = stored.and_then(|stored| unpacked(&stored).ok());
            Ok((stored.as_ref() == Some(&expected)).then_some(()))
        })
        .await
    }

    /// Removes the object of a bundle, or changes it without a change of its length or times.
    fn damage(&self, kind: &str, name: &str, deleted: bool) -> Result<(), Failed> {
        if kind != "file" {
            self.server.damage(name, deleted);
            return Ok(());
        }
        let file = self.file(name)?;
        if deleted {
            return Ok(std::fs::remove_file(file)?);
        }
        let before = file.metadata()?;
        std::fs::write(&file, vec![b'X'; usize::try_from(before.len())?])?;
        let file = std::fs::File::options().write(true).open(&file)?;
        Ok(file.set_modified(before.modified()?)?)
    }

    async fn message(&self, name: &str) -> Result<String, Failed> {
        let found = status(&self.control, name, "SUCCESS").await?;
        let message = found.get("error_message").and_then(Value::as_str);
        Ok(message.unwrap_or_default().to_owned())
    }
}

fn repairs(environment: Environment) -> Outcome {
    Box::pin(async move {
        let scene = Scene::start(environment, None, SHORT, &[]).await?;
        for kind in KINDS {
            scene.put(kind, kind).await?;
            scene.push(kind, 1).await?;
            scene.wait_for_value(kind, kind, 1).await?;
            let message = scene.message(kind).await?;
            if !message.is_empty() {
                return Err(format!("{kind}: {message} of what nobody has damaged").into());
            }
            for (deleted, reason) in [(false, "contained another bundle"), (true, "was empty")] {
                scene.damage(kind, kind, deleted)?;
                scene.wait_for_value(kind, kind, 1).await?;
                eventually(&format!("{kind}: status tells of it"), || async {
                    let message = scene.message(kind).await?;
                    let is_reported =
                        message.starts_with("written again at ") && message.ends_with(reason);
                    Ok(is_reported.then_some(()))
                })
                .await?;
            }
            // The message stays in the status while the bundle is rebuilt without another repair.
            let before = counted(&scene.control, "ocp_bundle_upload_count", "UNCHANGED").await?;
            eventually("further builds", || async {
                let now = counted(&scene.control, "ocp_bundle_upload_count", "UNCHANGED").await?;
                Ok((now >= before + 8).then_some(()))
            })
            .await?;
            if scene.message(kind).await?.is_empty() {
                return Err(format!("{kind}: status forgets that it was written again").into());
            }
            scene.push(kind, 2).await?;
            scene.wait_for_value(kind, kind, 2).await?;
        }
        let repaired = counted(&scene.control, "ocp_bundle_upload_count", "REPAIRED").await?;
        if repaired != 8 {
            return Err(format!("{repaired} bundles are counted as written again, not 8").into());
        }
        scene.workers.shutdown().await;
        Ok(())
    })
}

fn repairs_at_start(environment: Environment) -> Outcome {
    Box::pin(async move {
        let mut scene = Scene::start(environment, None, "1h", &[]).await?;
        for kind in KINDS {
            scene.put(kind, kind).await?;
            scene.push(kind, 1).await?;
            scene.wait_for_value(kind, kind, 1).await?;
            status(&scene.control, kind, "SUCCESS").await?;
        }
        for deleted in [false, true] {
            for kind in KINDS {
                scene.damage(kind, kind, deleted)?;
            }
            scene = scene.restarted("1h").await?;
            for kind in KINDS {
                scene.wait_for_value(kind, kind, 1).await?;
            }
        }
        // Storing the same definition again also causes a repair.
        for kind in KINDS {
            eventually("the build is recorded", || async {
                let message = scene.message(kind).await?;
                Ok(message.ends_with("was empty").then_some(()))
            })
            .await?;
            scene.damage(kind, kind, true)?;
            run_script(&scene.control, &scene.bundle(kind, kind)).await?;
            scene.wait_for_value(kind, kind, 1).await?;
        }
        scene.workers.shutdown().await;
        Ok(())
    })
}

/// A write hangs in the storage, while another worker claims the bundle and writes a newer object.
fn fences(environment: Environment) -> Outcome {
    Box::pin(async move {
        let scene = Scene::start(environment, None, SHORT, &[]).await?;
        let pool = scene.environment.database().await?;
        for (at, (kind, manner)) in [
            ("aws", ServerMode::Faithful),
            ("azure", ServerMode::Faithful),
            ("gcp", ServerMode::Faithful),
            ("aws", ServerMode::Refuses),
            ("aws", ServerMode::Ignores),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("{kind}-{at}");
            scene.server.behave(manner);
            scene.put(kind, &name).await?;
            scene.push(&name, 1).await?;
            scene.wait_for_value(kind, &name, 1).await?;
            status(&scene.control, &name, "SUCCESS").await?;
            scene.server.behave(ServerMode::Stalls);
            scene.push(&name, 2).await?;
            let server = &scene.server;
            eventually("the write hangs", || async {
                Ok((server.waiting() == 1).then_some(()))
            })
            .await?;
            // The claim appears to be lost, and another worker claims the bundle.
            let lose = "UPDATE builds SET claim = claim + 1, lease = 0, owner = ''";
            sqlx::query(lose).execute(&pool).await?;
            scene.push(&name, 3).await?;
            eventually("the other one writes, too", || async {
                Ok((server.waiting() == 2).then_some(()))
            })
            .await?;
            scene.server.behave(manner);
            scene.wait_for_value(kind, &name, 3).await?;
            eventually("the end of all writes", || async {
                Ok((server.waiting() == 0).then_some(()))
            })
            .await?;
            scene.wait_for_value(kind, &name, 3).await?;
            let latest = status(&scene.control, &name, "SUCCESS").await?;
            scene.push(&name, 4).await?;
            scene.wait_for_value(kind, &name, 4).await?;
            let writes = scene.server.writes(&name);
            let writes = writes.iter().map(|bytes| unpacked(bytes));
            let writes: Vec<Value> = writes.collect::<Result<_, _>>()?;
            let newest = writes
                .iter()
                .map(|document| document.get("v").and_then(Value::as_u64));
            let newest: Vec<u64> = newest.flatten().collect();
            let in_order = newest.is_sorted();
            if manner == ServerMode::Faithful && !in_order {
                return Err(format!("{name}: {newest:?} were written, {latest}").into());
            }
        }
        scene.workers.shutdown().await;
        Ok(())
    })
}

fn failures(environment: Environment) -> Outcome {
    Box::pin(async move {
        let scene = Scene::start(environment, None, SHORT, &[]).await?;
        let mut value = 0;
        for kind in ["aws", "azure", "gcp"] {
            scene.put(kind, kind).await?;
            scene.push(kind, value).await?;
            scene.wait_for_value(kind, kind, value).await?;
            for (manner, failure) in [
                (
                    ServerMode::Loses,
                    "the storage took the bundle and does not hold it",
                ),
                (ServerMode::Full, "the storage cannot be written to: "),
                (ServerMode::Lies, ""),
                (ServerMode::Blind, ""),
                (ServerMode::Ignores, ""),
                (ServerMode::Refuses, ""),
                (ServerMode::Distrusts, ""),
            ] {
                scene.server.behave(manner);
                let before = value;
                value += 1;
                scene.push(kind, value).await?;
                if !failure.is_empty() {
                    let failed = status(&scene.control, kind, "PUSH_FAILED").await?;
                    let message = failed.get("error_message").and_then(Value::as_str);
                    if !message.is_some_and(|message| message.starts_with(failure)) {
                        return Err(format!("{kind} {manner:?}: {failed}").into());
                    }
                    scene.wait_for_value(kind, kind, before).await?;
                    scene.server.behave(ServerMode::Faithful);
                }
                scene.wait_for_value(kind, kind, value).await?;
                // Corruption of the complete object is also repaired.
                scene.damage(kind, kind, false)?;
                scene.wait_for_value(kind, kind, value).await?;
                status(&scene.control, kind, "SUCCESS").await?;
            }
            scene.server.behave(ServerMode::Faithful);
        }
        scene.workers.shutdown().await;
        Ok(())
    })
}

fn hanging(environment: Environment) -> Outcome {
    Box::pin(async move {
        let scene = Scene::start(environment, None, SHORT, &["--concurrent-builds", "1"]).await?;
        scene.server.behave(ServerMode::Silent);
        for at in 0..8 {
            let name = format!("hangs-{at}");
            scene.put("aws", &name).await?;
        }
        scene.put("file", "healthy").await?;
        for value in 1..4 {
            scene.push("healthy", value).await?;
            scene.wait_for_value("file", "healthy", value).await?;
        }
        let server = &scene.server;
        eventually("all of them hang", || async {
            Ok((server.waiting() >= 8).then_some(()))
        })
        .await?;
        let failed = status(&scene.control, "hangs-0", "PUSH_FAILED").await?;
        if !failed.to_string().contains("does not answer within") {
            return Err(format!("{failed} does not say why").into());
        }
        scene.server.behave(ServerMode::Faithful);
        for at in 0..8 {
            status(&scene.control, &format!("hangs-{at}"), "SUCCESS").await?;
        }
        scene.workers.shutdown().await;
        Ok(())
    })
}

/// The clock of the database was ten hours ahead, and is then set back.
fn clock(environment: Environment) -> Outcome {
    Box::pin(async move {
        let scene = Scene::start(environment, None, SHORT, &[]).await?;
        scene.put("file", "b").await?;
        scene.push("b", 1).await?;
        scene.wait_for_value("file", "b", 1).await?;
        status(&scene.control, "b", "SUCCESS").await?;
        let pool = scene.environment.database().await?;
        for ahead in [
            "UPDATE build_statuses SET updated = updated + 36000000, created = created + 36000000",
            "UPDATE builds SET due = due + 36000000, lease = due + 36000000, owner = 'gone', \
             claim = claim + 1",
        ] {
            sqlx::query(ahead).execute(&pool).await?;
        }
        let first = send(
            &scene.control,
            "admin",
            "GET",
            "/v1/bundles/b/status/latest",
            "",
        )
        .await?;
        let first: Value = serde_json::from_str(&text(&first))?;
        std::fs::remove_file(scene.file("b")?)?;
        scene.wait_for_value("file", "b", 1).await?;
        let push = "admin PUT /v1/sources/b/data/v 2 => 200";
        run_script(&scene.control, push).await?;
        let revision = |status: &Value| status.pointer("/revision").cloned();
        eventually("the latest build is shown", || async {
            let latest = status(&scene.control, "b", "SUCCESS").await?;
            let old = first.pointer("/result").and_then(revision);
            Ok((revision(&latest) != old).then_some(()))
        })
        .await?;
        scene.workers.shutdown().await;
        Ok(())
    })
}
