//! Engine under test with a mock server, and requests to the engine.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use reference::{Running, start};
use serde_json::{Value, json};

use crate::mock_services::MockServices;

/// Result type of tests and helper functions.
pub(crate) type Done<T = ()> = Result<T, Box<dyn Error>>;

/// Timeout of waits, which only ends hangs. No test depends on timing.
pub(crate) const HANG_LIMIT: Duration = Duration::from_secs(120);

/// Engine under test, and the mock server of its services.
pub(crate) struct Environment {
    pub(crate) mock: MockServices,
    /// Running engine; `None` while it is stopped.
    pub(crate) running: Option<Running>,
    pub(crate) folder: tempfile::TempDir,
}

/// Returns a configuration with polling delays of tens of milliseconds.
pub(crate) fn quick() -> Value {
    json!({"min_delay_seconds": 0.01, "max_delay_seconds": 0.03})
}

impl Environment {
    /// Starts a mock server without an engine.
    pub(crate) async fn new() -> Done<Self> {
        Ok(Self {
            mock: MockServices::start().await?,
            running: None,
            folder: tempfile::tempdir()?,
        })
    }

    /// Starts a mock server and an engine; the engine uses the server as the service `mock`.
    pub(crate) async fn start(config: Value) -> Done<Self> {
        let mut environment = Self::new().await?;
        environment.engine(config).await?;
        Ok(environment)
    }

    /// Starts an engine with a configuration.
    pub(crate) async fn engine(&mut self, config: Value) -> Done {
        let file = self.configure(config)?;
        let args = ["engine", "--addr", "127.0.0.1:0", "--config-file"];
        let args = args.into_iter().map(str::to_owned);
        let file = file.to_string_lossy().into_owned();
        self.running = Some(start(args.chain([file])).await?);
        Ok(())
    }

    /// Writes the configuration file of the engine; returns its path.
    pub(crate) fn configure(&self, mut config: Value) -> Done<PathBuf> {
        if config["services"].is_null() {
            config["services"] = json!({"depot": {"url": self.url()}});
        }
        let file = self.folder.path().join("config.json");
        std::fs::write(&file, config.to_string())?;
        Ok(file)
    }

    /// Returns the URL of the mock server.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.mock.address)
    }

    /// Stops the engine.
    pub(crate) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shutdown().await;
        }
    }

    /// Reloads the configuration of the engine.
    pub(crate) async fn reload(&self) {
        if let Some(running) = &self.running {
            running.reload().await;
        }
    }

    /// Returns the status and the body of the engine's response to a GET.
    pub(crate) async fn get(&self, path: &str) -> Done<(u16, Value)> {
        let running = self.running.as_ref().ok_or("no engine")?;
        get(running.engine.ok_or("no address")?, path).await
    }

    /// Returns the body of the engine's response to a GET as a string.
    pub(crate) async fn text(&self, path: &str) -> Done<String> {
        let running = self.running.as_ref().ok_or("no engine")?;
        let address = running.engine.ok_or("no address")?;
        Ok(String::from_utf8(fetch(address, path).await?.1)?)
    }

    /// Polls a path of the engine until the body of the response satisfies a condition.
    pub(crate) async fn wait_for_text(&self, path: &str, matches: impl Fn(&str) -> bool) -> Done {
        let started = Instant::now();
        loop {
            let text = self.text(path).await?;
            if matches(&text) {
                return Ok(());
            }
            if started.elapsed() > HANG_LIMIT {
                return Err(format!("{path} stays at {text}").into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns the document at a path; `null` if it is undefined.
    pub(crate) async fn data(&self, path: &str) -> Done<Value> {
        let (_, mut answer) = self.get(&format!("/v1/data/{path}")).await?;
        Ok(answer["result"].take())
    }

    /// Polls the engine until the document at a path has this value.
    pub(crate) async fn wait_for_data(&self, path: &str, expected: Value) -> Done {
        self.wait_for(&format!("/v1/data/{path}"), |status, answer| {
            status == 200 && answer["result"] == expected
        })
        .await?;
        Ok(())
    }

    /// Polls a path of the engine until the response satisfies a condition; returns its body.
    pub(crate) async fn wait_for(
        &self,
        path: &str,
        matches: impl Fn(u16, &Value) -> bool,
    ) -> Done<Value> {
        let started = Instant::now();
        loop {
            let (status, answer) = self.get(path).await?;
            if matches(status, &answer) {
                return Ok(answer);
            }
            if started.elapsed() > HANG_LIMIT {
                return Err(format!("{path} stays at {status} {answer}").into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns the status report of the engine.
    pub(crate) async fn status(&self) -> Done<Value> {
        let (_, mut answer) = self.get("/v1/status").await?;
        Ok(answer["result"].take())
    }
}

/// Polls a function until it returns a value.
pub(crate) async fn until<T>(what: &str, find: impl Fn() -> Option<T>) -> Done<T> {
    let started = Instant::now();
    loop {
        if let Some(found) = find() {
            return Ok(found);
        }
        if started.elapsed() > HANG_LIMIT {
            return Err(format!("in vain: {what}").into());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns the status and the body of the response to a GET.
pub(crate) async fn get(address: SocketAddr, path: &str) -> Done<(u16, Value)> {
    let (status, body) = fetch(address, path).await?;
    Ok((status, serde_json::from_slice(&body)?))
}

/// HTTP client of all tests, because its creation takes long. Connections are not pooled, because
/// each would end with the runtime of its test.
static CLIENT: LazyLock<reqwest::Result<reqwest::Client>> = LazyLock::new(|| {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let client = reqwest::Client::builder().no_proxy();
    client.pool_max_idle_per_host(0).build()
});

async fn fetch(address: SocketAddr, path: &str) -> Done<(u16, Vec<u8>)> {
    let client = CLIENT.as_ref()?;
    let answer = client.get(format!("http://{address}{path}")).send().await?;
    let status = answer.status().as_u16();
    Ok((status, answer.bytes().await?.to_vec()))
}
