//! Workers: they build bundles to files, record failures in statuses, and take over from other
//! replicas.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use reference::control::Control;
use serde_json::Value;

use crate::environment::{Environment, send, text};
use crate::transcript::run_script;
use crate::{Case, HANG_LIMIT, Outcome};

pub(crate) const CASES: &[Case] = &[
    ("bundles-are-built-and-kept-up-to-date", kept_up_to_date),
    ("a-failed-build-keeps-the-old-bundle", failures),
    ("libraries-of-the-operator-are-followed", libraries),
    ("statuses-are-seen-as-their-bundles", visibility),
    ("secrets-show-in-no-status", secrecy),
    ("a-change-is-built-before-what-has-not-changed", precedence),
    ("what-has-not-changed-is-not-read", unread),
    ("replicas-share-the-work", shared_work),
    ("a-lost-owner-is-replaced", takeover),
    ("nothing-is-forgotten-without-a-builder", without_builder),
    (
        "bundles-have-intervals-and-revisions-of-their-own",
        own_pace,
    ),
];

/// Returns the folder to which bundles are written.
pub(crate) fn storage(environment: &Environment) -> Result<PathBuf, Failed> {
    let folder = environment.folder().join("bundles");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

pub(crate) async fn open(
    environment: &Environment,
    further: &[&str],
) -> Result<Arc<Control>, Failed> {
    let root = storage(environment)?.display().to_string();
    let mut arguments = vec!["--bundle-root", &root];
    if !further.contains(&"--rebuild-interval") {
        arguments.extend(["--rebuild-interval", "100ms"]);
    }
    arguments.extend(further);
    environment.open_builder(&arguments).await
}

/// Polls a function until it returns a value.
pub(crate) async fn eventually<T, F>(what: &str, mut poll: impl FnMut() -> F) -> Result<T, Failed>
where
    F: Future<Output = Result<Option<T>, Failed>>,
{
    let deadline = Instant::now() + HANG_LIMIT;
    loop {
        if let Some(answer) = poll().await? {
            return Ok(answer);
        }
        if Instant::now() > deadline {
            return Err(format!("{what}: not within {HANG_LIMIT:?}").into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the last status of a bundle is the expected one; returns the whole status.
pub(crate) async fn status(
    control: &Arc<Control>,
    bundle: &str,
    expected: &str,
) -> Result<Value, Failed> {
    let target = format!("/v1/bundles/{bundle}/status/latest");
    eventually(&format!("{target} {expected}"), || async {
        let reply = send(control, "admin", "GET", &target, "").await?;
        let body: Value = serde_json::from_str(&text(&reply))?;
        let status = body.get("result").cloned().unwrap_or_default();
        let found = status.get("status").and_then(Value::as_str) == Some(expected);
        Ok(found.then_some(status))
    })
    .await
}

/// Returns the documents in a bundle file.
pub(crate) fn documents(file: &Path) -> Result<Option<Value>, Failed> {
    match std::fs::read(file) {
        Ok(bytes) => unpacked(&bytes).map(Some),
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}

/// Returns the documents in a bundle.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<Value, Failed> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    for entry in archive.entries()? {
        let entry = entry?;
        if entry.path()?.ends_with("data.json") {
            return Ok(serde_json::from_reader(entry)?);
        }
    }
    Err("a bundle has no data.json".into())
}

/// Waits until a bundle file contains this document.
pub(crate) async fn wait_for_content(file: &Path, expected: &Value) -> Result<(), Failed> {
    eventually(&format!("{} {expected}", file.display()), || async {
        Ok((documents(file)?.as_ref() == Some(expected)).then_some(()))
    })
    .await
}

/// Returns the sum of a metric's samples with labels that contain a string.
pub(crate) async fn counted(
    control: &Arc<Control>,
    metric: &str,
    label: &str,
) -> Result<u64, Failed> {
    let reply = send(control, "nobody", "GET", "/metrics", "").await?;
    let metrics = text(&reply);
    let samples = metrics
        .lines()
        .filter(|line| line.starts_with(metric) && line.contains(label));
    let values = samples.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
    Ok(values.sum())
}

fn kept_up_to_date(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &[]).await?;
        let workers = control.start_workers().await?;
        let file = storage(&environment)?.join("deep/app.tar.gz");
        run_script(
            &control,
            r#"
            owner PUT /v1/sources/app {} => 200
            owner PUT /v1/sources/app/data/app/limits {"max":1} => 200
            owner PUT /v1/bundles/app {"object_storage":{"filesystem":{"path":"deep/app.tar.gz"}},"requirements":[{"source":"app"}]} => 200
            "#,
        )
        .await?;
        wait_for_content(&file, &serde_json::json!({"app": {"limits": {"max": 1}}})).await?;
        let first = status(&control, "app", "SUCCESS").await?;
        run_script(
            &control,
            r#"owner PUT /v1/sources/app/data/app/limits {"max":2} => 200"#,
        )
        .await?;
        wait_for_content(&file, &serde_json::json!({"app": {"limits": {"max": 2}}})).await?;
        // An unchanged bundle is built again, but not written.
        let written = file.metadata()?.modified()?;
        let before = counted(&control, "ocp_bundle_upload_count", "UNCHANGED").await?;
        eventually("periodic builds", || async {
            let now = counted(&control, "ocp_bundle_upload_count", "UNCHANGED").await?;
            Ok((now >= before + 2).then_some(()))
        })
        .await?;
        if file.metadata()?.modified()? != written {
            return Err("a bundle that has not changed was written again".into());
        }
        let second = status(&control, "app", "SUCCESS").await?;
        if first.get("revision") == second.get("revision") {
            return Err(format!("{first} and {second} have the same revision").into());
        }
        let labels = r#"bundle="app",state="SUCCESS""#;
        if counted(&control, "ocp_bundle_build_count", labels).await? == 0 {
            return Err("builds are not counted".into());
        }
        run_script(&control, "owner DELETE /v1/bundles/app => 200").await?;
        workers.shutdown().await;
        match file.exists() {
            true => Ok(()),
            false => Err("the file of a deleted bundle is gone".into()),
        }
    })
}

/// Number of bundles that are always due.
const DUE: usize = 300;

fn precedence(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &["--rebuild-interval", "1ms"]).await?;
        let mut script = Vec::new();
        for at in 0..DUE {
            script.push(format!("admin PUT /v1/sources/s{at} {{}} => 200"));
            script.push(format!(
                r#"admin PUT /v1/bundles/b{at} {{"object_storage":{{"filesystem":{{"path":"b{at}"}}}},"requirements":[{{"source":"s{at}"}}]}} => 200"#
            ));
        }
        run_script(&control, &script.join("\n")).await?;
        let workers = control.start_workers().await?;
        let uploads = "ocp_bundle_upload_count";
        eventually("all bundles", || async {
            let built = counted(&control, uploads, "SUCCESS").await?;
            Ok((built >= DUE as u64).then_some(()))
        })
        .await?;
        for at in [0, DUE / 2, DUE - 1] {
            let before = counted(&control, uploads, "UNCHANGED").await?;
            run_script(
                &control,
                &format!("admin PUT /v1/sources/s{at}/data/v 1 => 200"),
            )
            .await?;
            let file = storage(&environment)?.join(format!("b{at}"));
            wait_for_content(&file, &serde_json::json!({"v": 1})).await?;
            let others = counted(&control, uploads, "UNCHANGED").await? - before;
            if others > DUE as u64 / 2 {
                return Err(format!("{others} bundles came before the change").into());
            }
        }
        workers.shutdown().await;
        Ok(())
    })
}

fn unread(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &[]).await?;
        let workers = control.start_workers().await?;
        run_script(
            &control,
            r#"
            admin PUT /v1/sources/s {} => 200
            admin PUT /v1/sources/s/data/v 1 => 200
            admin PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"b"}},"requirements":[{"source":"s"}]} => 200
            "#,
        )
        .await?;
        let file = storage(&environment)?.join("b");
        let document = |value: u32| serde_json::json!({ "v": value });
        wait_for_content(&file, &document(1)).await?;
        let unchanged_builds = || counted(&control, "ocp_bundle_upload_count", "UNCHANGED");
        let wait_for_builds_after = async |before| {
            eventually("looks at the bundle", || async {
                Ok((unchanged_builds().await? > before).then_some(()))
            })
            .await
        };
        // The file exists before the end of the build is recorded, so wait for the next check.
        wait_for_builds_after(0).await?;
        // This change is not recorded, so it is found only if the bundle is built.
        let database = environment.database().await?;
        let changed = sqlx::query("UPDATE documents SET document = '2'");
        changed.execute(&database).await?;
        wait_for_builds_after(unchanged_builds().await? + 2).await?;
        if documents(&file)? != Some(document(1)) {
            return Err("a bundle that has not changed was built".into());
        }
        // A bundle is built if its file is missing.
        std::fs::remove_file(&file)?;
        wait_for_content(&file, &document(2)).await?;
        workers.shutdown().await;
        Ok(())
    })
}

fn failures(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &[]).await?;
        let workers = control.start_workers().await?;
        let file = storage(&environment)?.join("b.tar.gz");
        run_script(
            &control,
            r#"
            admin PUT /v1/sources/a {} => 200
            admin PUT /v1/sources/a/data/x {"v":1} => 200
            admin PUT /v1/sources/b {} => 200
            admin PUT /v1/bundles/none {} => 200
            admin PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"b.tar.gz"}},"requirements":[{"source":"a"},{"source":"b"}]} => 200
            "#,
        )
        .await?;
        status(&control, "none", "CONFIG_ERROR").await?;
        status(&control, "b", "SUCCESS").await?;
        let before = std::fs::read(&file)?;
        // Two sources that claim the same root.
        run_script(
            &control,
            r#"admin PUT /v1/sources/b/data/x/y {"v":2} => 200"#,
        )
        .await?;
        let failed = status(&control, "b", "BUILD_FAILED").await?;
        if failed.get("error_message").and_then(Value::as_str) == Some("") {
            return Err(format!("{failed} does not say why").into());
        }
        if std::fs::read(&file)? != before {
            return Err("a failed build has changed the bundle".into());
        }
        run_script(&control, "admin DELETE /v1/sources/b/data/x/y => 200").await?;
        status(&control, "b", "SUCCESS").await?;
        // A storage that the operator does not allow.
        run_script(
            &control,
            r#"admin PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"../b"}}} => 200"#,
        )
        .await?;
        status(&control, "b", "CONFIG_ERROR").await?;
        workers.shutdown().await;
        for is_reported in [true, false] {
            let builds = counted(&control, "ocp_bundle_build_", r#"bundle="b""#).await?;
            if (builds > 0) != is_reported {
                return Err(format!("{builds} builds of a bundle are shown").into());
            }
            send(&control, "admin", "DELETE", "/v1/bundles/b", "").await?;
        }
        Ok(())
    })
}

fn libraries(environment: Environment) -> Outcome {
    Box::pin(async move {
        let root = environment.folder().join("libraries");
        let library = root.join("acme:limits");
        std::fs::create_dir_all(&library)?;
        std::fs::write(library.join("data.json"), r#"{"limits":1}"#)?;
        let root = root.display().to_string();
        let control = open(&environment, &["--builtin-root", &root]).await?;
        let workers = control.start_workers().await?;
        let file = storage(&environment)?.join("b.tar.gz");
        run_script(
            &control,
            r#"
            admin PUT /v1/sources/l {"builtin":"acme:limits"} => 200
            admin PUT /v1/sources/g {"git":{"repo":"https://git.example/x","reference":"main"}} => 200
            admin PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"b.tar.gz"}},"requirements":[{"source":"l"}]} => 200
            admin PUT /v1/bundles/g {"object_storage":{"filesystem":{"path":"g.tar.gz"}},"requirements":[{"source":"g"}]} => 200
            "#,
        )
        .await?;
        wait_for_content(&file, &serde_json::json!({"limits": 1})).await?;
        std::fs::write(library.join("data.json"), r#"{"limits":2}"#)?;
        wait_for_content(&file, &serde_json::json!({"limits": 2})).await?;
        run_script(
            &control,
            r#"admin PUT /v1/sources/l {"builtin":"acme:other"} => 200"#,
        )
        .await?;
        let failed = status(&control, "b", "CONFIG_ERROR").await?;
        let message = failed.get("error_message").and_then(Value::as_str);
        if message != Some("source `l`: there is no built-in source `acme:other`") {
            return Err(format!("{failed} does not say what is missing").into());
        }
        status(&control, "g", "CONFIG_ERROR").await?;
        let failures = r#"source="g",state="FAILED""#;
        if counted(&control, "ocp_git_sync_count", failures).await? == 0 {
            return Err("repositories that cannot be read are not counted".into());
        }
        workers.shutdown().await;
        Ok(())
    })
}

fn visibility(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &[]).await?;
        run_script(
            &control,
            "
            owner PUT /v1/bundles/b {} => 200
            owner GET /v1/bundles/b/status => 200 {\"result\":[]}
            owner GET /v1/bundles/b/status/latest => 404 not_found built
            ",
        )
        .await?;
        let workers = control.start_workers().await?;
        status(&control, "b", "CONFIG_ERROR").await?;
        workers.shutdown().await;
        run_script(
            &control,
            "
            viewer GET /v1/bundles/b/status => 200
            viewer GET /v1/bundles/b/status/latest => 200
            owner GET /v1/bundles/b/status?limit=1 => 200
            owner2 GET /v1/bundles/b/status => 404 not_found
            owner2 GET /v1/bundles/b/status/latest => 404 not_found
            nobody GET /v1/bundles/b/status => 401
            nobody GET /v1/bundles/b/status/latest => 401
            admin GET /v1/bundles/absent/status => 404 not_found
            admin GET /v1/bundles/b/status?limit=abc => 400 invalid_parameter
            admin GET /v1/bundles/b/status?limit=0 => 400 invalid_parameter
            admin GET /v1/bundles/b/status?revision=none => 200 {\"result\":[]}
            admin PUT /v1/bundles/b/status {} => 405
            nobody GET /metrics => 200
            ",
        )
        .await?;
        let reply = send(&control, "owner", "GET", "/v1/bundles/b/status", "").await?;
        let body: Value = serde_json::from_str(&text(&reply))?;
        let first = body.pointer("/result/0").and_then(Value::as_object);
        let mut names: Vec<&str> = first
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        names.sort_unstable();
        let expected = [
            "bundle_name",
            "created_at",
            "error_message",
            "phase",
            "revision",
            "status",
            "updated_at",
        ];
        match names == expected {
            true => Ok(()),
            false => Err(format!("a status has {names:?}").into()),
        }
    })
}

fn secrecy(environment: Environment) -> Outcome {
    Box::pin(async move {
        // No server listens at the address of the datasource.
        let further = ["--allow-host", "127.0.0.1", "--allow-secrets-over-http"];
        let control = open(&environment, &further).await?;
        let workers = control.start_workers().await?;
        run_script(
            &control,
            r#"
            admin PUT /v1/secrets/k {"value":{"type":"aws_auth","access_key_id":"hush-marker-id","secret_access_key":"hush-marker"}} => 200
            admin PUT /v1/bundles/b {"object_storage":{"aws":{"bucket":"b","key":"hush-marker","region":"r","credentials":"k","url":"http://127.0.0.1:1"}}} => 200
            "#,
        )
        .await?;
        let failed = status(&control, "b", "PUSH_FAILED").await?;
        workers.shutdown().await;
        match failed.to_string().contains("hush-marker") {
            true => Err(format!("a secret shows in {failed}").into()),
            false => Ok(()),
        }
    })
}

fn shared_work(environment: Environment) -> Outcome {
    Box::pin(async move {
        let mut replicas = Vec::new();
        for _ in 0..3 {
            let control = open(&environment, &["--concurrent-builds", "2"]).await?;
            let workers = control.start_workers().await?;
            replicas.push((control, workers));
        }
        for at in 0..6 {
            for (round, (control, _)) in replicas.iter().enumerate() {
                let source = format!("admin PUT /v1/sources/s{at} {{}} => 200");
                let data =
                    format!("admin PUT /v1/sources/s{at}/data/v {{\"turn\":{round}}} => 200");
                let bundle = format!(
                    r#"admin PUT /v1/bundles/b{at} {{"object_storage":{{"filesystem":{{"path":"{at}.tar.gz"}}}},"requirements":[{{"source":"s{at}"}}]}} => 200"#
                );
                run_script(control, &[source, data, bundle].join("\n")).await?;
            }
        }
        // One of the replicas is stopped; the others continue.
        let (_, stopped) = replicas.pop().ok_or("there are three")?;
        stopped.shutdown().await;
        for at in 0..6 {
            let file = storage(&environment)?.join(format!("{at}.tar.gz"));
            wait_for_content(&file, &serde_json::json!({"v": {"turn": 2}})).await?;
        }
        for (_, workers) in replicas {
            workers.shutdown().await;
        }
        Ok(())
    })
}

fn takeover(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &[]).await?;
        let workers = control.start_workers().await?;
        let file = storage(&environment)?.join("b.tar.gz");
        run_script(
            &control,
            r#"admin PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"b.tar.gz"}}} => 200"#,
        )
        .await?;
        status(&control, "b", "SUCCESS").await?;
        // An owner that has ended holds the claim until its lease expires.
        let pool = environment.database().await?;
        let lease = Duration::from_millis(1500);
        let started = Instant::now();
        let ends = std::time::SystemTime::now() + lease;
        let ends = ends.duration_since(std::time::UNIX_EPOCH)?.as_millis();
        let take_lease =
            sqlx::query("UPDATE builds SET owner = 'gone', claim = claim + 1, lease = $1");
        take_lease.bind(i64::try_from(ends)?).execute(&pool).await?;
        std::fs::remove_file(&file)?;
        run_script(&control, r#"admin PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"./b.tar.gz"}}} => 200"#).await?;
        eventually("the bundle is written", || async {
            Ok(file.exists().then_some(()))
        })
        .await?;
        if started.elapsed() + Duration::from_millis(100) < lease {
            return Err("a bundle was taken from its owner".into());
        }
        workers.shutdown().await;
        Ok(())
    })
}

fn without_builder(environment: Environment) -> Outcome {
    Box::pin(async move {
        let api = open(&environment, &["--no-builder"]).await?;
        let idle = api.start_workers().await?;
        run_script(
            &api,
            r#"admin PUT /v1/bundles/b {"object_storage":{"filesystem":{"path":"b.tar.gz"}}} => 200"#,
        )
        .await?;
        let pool = environment.database().await?;
        eventually("the change is passed on", || async {
            let left = sqlx::query("SELECT 1 FROM changes")
                .fetch_optional(&pool)
                .await?;
            Ok(left.is_none().then_some(()))
        })
        .await?;
        idle.shutdown().await;
        let file = storage(&environment)?.join("b.tar.gz");
        if file.exists() {
            return Err("a replica that does not build has built".into());
        }
        let builder = open(&environment, &[]).await?;
        let workers = builder.start_workers().await?;
        status(&api, "b", "SUCCESS").await?;
        workers.shutdown().await;
        Ok(())
    })
}

fn own_pace(environment: Environment) -> Outcome {
    Box::pin(async move {
        let control = open(&environment, &["--rebuild-interval", "10s"]).await?;
        let workers = control.start_workers().await?;
        let pool = environment.database().await?;
        for (interval, pause) in [("1h30m", 5_400_000), ("1ms", 1000), ("", 10_000)] {
            let revision = format!("r-{pause}");
            let script = format!(
                r#"admin PUT /v1/bundles/b {{"revision":"\"{revision}\"","rebuild_interval":"{interval}","object_storage":{{"filesystem":{{"path":"b.tar.gz"}}}}}} => 200"#
            );
            run_script(&control, &script).await?;
            eventually(&revision, || async {
                let built = status(&control, "b", "SUCCESS").await?;
                let is_built = built.get("revision").and_then(Value::as_str) == Some(&revision);
                Ok(is_built.then_some(()))
            })
            .await?;
            eventually("the pause is kept", || async {
                let select = sqlx::query_scalar::<_, i64>("SELECT pause FROM builds");
                let stored = select.fetch_one(&pool).await?;
                Ok((stored == pause).then_some(()))
            })
            .await?;
        }
        workers.shutdown().await;
        Ok(())
    })
}
