//! Engines that load a bundle from a storage while its sources change.

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};

use super::control_plane::{WorkDir, program};
use super::storage::{BUCKET, Kind, S3_KEY, S3_REGION, S3_SECRET, Storage};
use super::value_at;
use crate::servers::{ExternalProcess, HANG_LIMIT, free_address};
use crate::{real_opa, report};

/// Number of changes before the engines are compared.
const BURST: u64 = 7;

/// Running engine that loads its bundle from the storage.
struct Engine {
    name: &'static str,
    address: SocketAddr,
    client: Client,
    _process: ExternalProcess,
}

/// Changes a policy and its data for a number of seconds. Checks after each burst of changes that
/// OPA and our engine make the same decisions, and that no activation fails.
///
/// # Errors
/// When an engine does not activate a change, makes another decision, or reports a failed
/// activation.
pub(super) async fn run(folder: &Path, seconds: u64) -> Result<(), Box<dyn Error>> {
    let opa = real_opa::build()?;
    let folder = folder.join("engines");
    fs::create_dir_all(&folder)?;
    let storage = Storage::start(Kind::S3, &folder)?;
    let home = WorkDir::new(&folder.join("plane"), None)?;
    let running = home.start("plane").await?;
    let plane = &running.administrator;
    let rules = home.folder.join("sources/rules");
    fs::create_dir_all(&rules)?;
    write_rules(&rules, 0)?;
    let rules_source = json!({"directory": rules.display().to_string()});
    let bundle = json!({
        "object_storage": storage.destination("shop.tar.gz", "writer"),
        "requirements": [{"source": "rules"}, {"source": "stock"}],
    });
    plane
        .put("/v1/secrets/writer", &json!({"value": storage.secret()}))
        .await?;
    plane.put("/v1/sources/rules", &rules_source).await?;
    plane.put("/v1/sources/stock", &json!({})).await?;
    plane.put("/v1/sources/stock/data/count", &json!(0)).await?;
    plane.put("/v1/bundles/shop", &bundle).await?;
    let config = folder.join("engine.json");
    fs::write(&config, configuration(storage.address).to_string())?;
    let mut opa_command = Command::new(opa);
    opa_command.args(real_opa::SERVE);
    let mut our_command = Command::new(program());
    our_command.arg("engine");
    let engines = [
        Engine::start("opa", opa_command, &config, &folder)?,
        Engine::start("engine", our_command, &config, &folder)?,
    ];
    let start = Instant::now();
    let (mut state, mut comparisons) = (0, 0);
    while start.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..BURST {
            state += 1;
            write_rules(&rules, state)?;
            plane.put("/v1/sources/rules", &rules_source).await?;
            plane
                .put("/v1/sources/stock/data/count", &json!(state))
                .await?;
            for engine in &engines {
                engine.check_status().await?;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let mut decisions = Vec::new();
        for engine in &engines {
            engine.follow(state).await?;
            decisions.push(engine.decisions(state).await?);
        }
        if let [theirs, ours] = decisions.as_slice()
            && theirs != ours
        {
            return Err(format!("after change {state} OPA decides {theirs}, ours {ours}").into());
        }
        comparisons += 1;
    }
    report(
        "followed",
        &format!(
            "{state} changes in {seconds} s, compared {comparisons} times, no failed activation"
        ),
    );
    Ok(())
}

/// Writes the policy of a state to a folder, atomically.
fn write_rules(folder: &Path, state: u64) -> Result<(), Box<dyn Error>> {
    let text = format!(
        "package shop\n\nimport rego.v1\n\nstate := {state}\n\n\
         default allow := false\n\n\
         allow if input.wanted <= data.count\n\n\
         parity := [\"even\", \"odd\"][{state} % 2]\n\n\
         listed contains item if {{\n\tsome item in numbers.range(1, data.count)\n\titem % 97 == 0\n}}\n"
    );
    let written = folder.with_extension("new");
    fs::write(&written, text)?;
    fs::rename(written, folder.join("shop.rego"))?;
    Ok(())
}

/// Returns the configuration for both engines.
fn configuration(storage: SocketAddr) -> Value {
    json!({
        "services": {"storage": {
            "url": format!("http://{storage}/{BUCKET}"),
            "credentials": {"s3_signing": {"environment_credentials": {}}},
        }},
        "bundles": {"shop": {
            "service": "storage",
            "resource": "shop.tar.gz",
            "polling": {"min_delay_seconds": 1, "max_delay_seconds": 1},
        }},
        "status": {"console": true},
    })
}

impl Engine {
    fn start(
        name: &'static str,
        mut command: Command,
        config: &Path,
        folder: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let address = free_address()?;
        command
            .args(["--addr", &address.to_string(), "--log-level", "error"])
            .arg("--config-file")
            .arg(config)
            .env("AWS_ACCESS_KEY_ID", S3_KEY)
            .env("AWS_SECRET_ACCESS_KEY", S3_SECRET)
            .env("AWS_REGION", S3_REGION);
        Ok(Self {
            name,
            address,
            client: Client::builder().timeout(HANG_LIMIT).build()?,
            _process: ExternalProcess::start(name, &mut command, address, folder)?,
        })
    }

    async fn get(&self, path: &str) -> Result<Value, Box<dyn Error>> {
        let url = format!("http://{}{path}", self.address);
        let text = self.client.get(url).send().await?.text().await?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Checks that the status of the engine contains no failed activation.
    async fn check_status(&self) -> Result<(), Box<dyn Error>> {
        let status = self.get("/v1/status").await?;
        let bundle = value_at(&status, "/result/bundles/shop");
        // Before the first build, the storage has no bundle, so an error is expected.
        let started = value_at(bundle, "/active_revision").is_string();
        match started && (bundle.get("code").is_some() || bundle.get("errors").is_some()) {
            true => Err(format!("{}: {bundle}", self.name).into()),
            false => Ok(()),
        }
    }

    /// Waits until the engine has activated the bundle of a state.
    async fn follow(&self, state: u64) -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        loop {
            let shop = self.get("/v1/data/shop/state").await?;
            let count = self.get("/v1/data/count").await?;
            if value_at(&shop, "/result") == state && value_at(&count, "/result") == state {
                return Ok(());
            }
            if start.elapsed() > HANG_LIMIT {
                let status = self.get("/v1/status").await?;
                return Err(format!("{} is not at {state}: {shop} {status}", self.name).into());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the decisions of the engine for a state.
    async fn decisions(&self, state: u64) -> Result<Value, Box<dyn Error>> {
        let mut decided = Vec::new();
        for input in [json!(state), json!(state + 1), json!("many"), Value::Null] {
            let url = format!("http://{}/v1/data/shop", self.address);
            let body = json!({"input": {"wanted": input}}).to_string();
            let text = self.client.post(url).body(body).send().await?;
            let answer: Value = serde_json::from_str(&text.text().await?)?;
            decided.push(value_at(&answer, "/result").clone());
        }
        Ok(Value::from(decided))
    }
}
