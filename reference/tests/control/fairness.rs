//! Fair sharing of the builders: definitions of one owner neither delay nor abort the builds of
//! others.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use libtest_mimic::Failed;
use serde_json::json;

use crate::environment::{Environment, TOKENS};
use crate::transcript::run_script;
use crate::workers::{counted, eventually, open, status, storage, wait_for_content};
use crate::{Case, Outcome};

pub(crate) const CASES: &[Case] = &[
    ("endless-builds-hold-up-their-owner-only", endless),
    ("what-uses-up-its-evaluations-waits-its-interval", used_up),
    ("a-build-that-ends-the-process-is-tried-alone", killed),
];

/// Rego expression that never ends and needs little memory.
const ENDLESS: &str = r#"sprintf(\"%d\",[count([1 | r := numbers.range(1,100000); some a in r; some b in r; some c in r; a+b+c == -1])])"#;

/// Returns a request that stores a bundle with an endless revision.
fn endless_bundle(owner: &str, name: &str) -> String {
    format!(
        r#"{owner} PUT /v1/bundles/{name} {{"object_storage":{{"filesystem":{{"path":"{name}"}}}},"revision":"{ENDLESS}"}} => 200"#
    )
}

/// Returns requests that store a bundle with one document.
fn bundle(owner: &str, name: &str, value: u32) -> String {
    format!(
        r#"
        {owner} PUT /v1/sources/{name} {{}} => 200
        {owner} PUT /v1/sources/{name}/data/v {value} => 200
        {owner} PUT /v1/bundles/{name} {{"object_storage":{{"filesystem":{{"path":"{name}"}}}},"requirements":[{{"source":"{name}"}}]}} => 200
        "#
    )
}

/// Returns the number of builds that processes have claimed.
async fn claimed(pool: &sqlx::AnyPool) -> Result<i64, Failed> {
    let select = sqlx::query_scalar("SELECT COUNT(*) FROM builds WHERE owner <> ''");
    Ok(select.fetch_one(pool).await?)
}

fn endless(environment: Environment) -> Outcome {
    Box::pin(async move {
        let further = [
            "--build-evaluation-timeout",
            "0",
            "--concurrent-builds",
            "4",
        ];
        let control = open(&environment, &further).await?;
        let workers = control.start_workers().await?;
        let pool = environment.database().await?;
        for at in 0..6 {
            run_script(&control, &endless_bundle("owner", &format!("e{at}"))).await?;
        }
        eventually("all builders are busy", || async {
            Ok((claimed(&pool).await? == 4).then_some(()))
        })
        .await?;
        // Each bundle is written although no endless build has ended.
        for (at, owner) in ["owner2", "admin", "owner2"].iter().enumerate() {
            let name = format!("other{at}");
            run_script(&control, &bundle(owner, &name, 1)).await?;
            wait_for_content(&storage(&environment)?.join(&name), &json!({"v": 1})).await?;
        }
        let ended = counted(&control, "ocp_bundle_build_count", r#"bundle="e"#).await?;
        if ended > 0 || claimed(&pool).await? < 4 {
            return Err("the endless builds have ended".into());
        }
        for at in 0..6 {
            run_script(&control, &format!("owner DELETE /v1/bundles/e{at} => 200")).await?;
        }
        workers.shutdown().await;
        Ok(())
    })
}

fn used_up(environment: Environment) -> Outcome {
    Box::pin(async move {
        let further = [
            "--build-evaluation-timeout",
            "20ms",
            "--rebuild-interval",
            "1h",
        ];
        let control = open(&environment, &further).await?;
        let workers = control.start_workers().await?;
        run_script(&control, &endless_bundle("owner", "e")).await?;
        let failed = status(&control, "e", "BUILD_FAILED").await?;
        let message = failed.get("error_message").cloned().unwrap_or_default();
        if !message
            .to_string()
            .contains("all evaluations of a build together may take 20ms")
        {
            return Err(format!("{message} does not say what the limit is").into());
        }
        let pool = environment.database().await?;
        let pause: i64 = sqlx::query_scalar("SELECT pause FROM builds")
            .fetch_one(&pool)
            .await?;
        if pause != 3_600_000 {
            return Err(format!("it is tried again after {pause} ms").into());
        }
        run_script(&control, &bundle("owner", "e", 1)).await?;
        status(&control, "e", "SUCCESS").await?;
        workers.shutdown().await;
        Ok(())
    })
}

/// Server process; killed when dropped.
struct Process(Child);

impl Process {
    /// Starts a control plane without a timeout for evaluations in builds.
    fn start(environment: &Environment, log: &Path) -> Result<Self, Failed> {
        let tokens = environment.file("tokens.yaml", TOKENS)?;
        let log = File::options().create(true).append(true).open(log)?;
        let child = Command::new(env!("CARGO_BIN_EXE_reference"))
            .args(["control", "--addr", "127.0.0.1:0"])
            .args(["--database", environment.url(), "--encryption-key-file"])
            .arg(environment.folder().join("key"))
            .arg("--config")
            .arg(tokens)
            .arg("--bundle-root")
            .arg(storage(environment)?)
            .args([
                "--rebuild-interval",
                "1s",
                "--build-evaluation-timeout",
                "0",
            ])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(Self(child))
    }
}

impl Drop for Process {
    /// Kills the process, as a crash would.
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _waited = self.0.wait();
    }
}

fn killed(environment: Environment) -> Outcome {
    Box::pin(async move {
        let api = open(&environment, &["--no-builder"]).await?;
        let pool = environment.database().await?;
        let log = environment.folder().join("killed.log");
        let written = |name: &str| storage(&environment).map(|folder| folder.join(name));
        run_script(&api, &endless_bundle("owner", "e")).await?;
        for deaths in 0..2_i64 {
            // These changes are built before the bundle that ended the previous process.
            let other = format!("other{deaths}");
            run_script(&api, &bundle("owner2", &other, 1)).await?;
            let process = Process::start(&environment, &log)?;
            wait_for_content(&written(&other)?, &json!({"v": 1})).await?;
            eventually("the bundle is tried", || async {
                let select = sqlx::query_scalar::<_, i64>(
                    "SELECT b.deaths FROM builds b JOIN resources r ON r.id = b.bundle_id \
                     WHERE r.name = 'e' AND b.owner <> '' AND b.deaths = $1",
                );
                let tried = select.bind(deaths).fetch_optional(&pool).await?;
                Ok((tried.is_some() && claimed(&pool).await? == 1).then_some(()))
            })
            .await?;
            drop(process);
        }
        let process = Process::start(&environment, &log)?;
        let failed = status(&api, "e", "INTERNAL_ERROR").await?;
        if !failed.to_string().contains("the process ended 2 times") {
            return Err(format!("{failed} does not say why").into());
        }
        // New data or a restart does not cause another attempt; a new definition does.
        run_script(&api, &bundle("owner2", "last", 1)).await?;
        wait_for_content(&written("last")?, &json!({"v": 1})).await?;
        drop(process);
        let process = Process::start(&environment, &log)?;
        run_script(&api, "owner2 PUT /v1/sources/last/data/v 2 => 200").await?;
        wait_for_content(&written("last")?, &json!({"v": 2})).await?;
        status(&api, "e", "INTERNAL_ERROR").await?;
        run_script(&api, &bundle("owner", "e", 1)).await?;
        wait_for_content(&written("e")?, &json!({"v": 1})).await?;
        status(&api, "e", "SUCCESS").await?;
        drop(process);
        let log_text = std::fs::read_to_string(&log)?;
        let trials = log_text.lines().filter(|line| {
            line.contains(r#""bundle":"e""#) && line.contains("the process ended while it built")
        });
        match trials.count() {
            1 => Ok(()),
            times => Err(format!("{times} trials: {log_text}").into()),
        }
    })
}
