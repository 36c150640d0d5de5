//! Our control plane as a process, which checks can kill.

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};

use super::value_at;
use crate::cargo::cargo;
use crate::command::complete;
use crate::root;
use crate::servers::{HANG_LIMIT, free_address};

/// API key of the administrator.
const KEY: &str = "bundles-administrator-key";

/// Encryption key for tests.
const ENCRYPTION_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";

/// Files and database that several control planes use one after another, or together.
#[derive(Debug)]
pub(super) struct WorkDir {
    pub(super) folder: PathBuf,
    database: String,
    environment: Vec<(&'static str, PathBuf)>,
    client: Client,
}

/// Running control plane, killed when dropped.
#[derive(Debug)]
pub(super) struct ControlPlane {
    pub(super) administrator: Administrator,
    process: Child,
}

/// Client of a control plane, with the API key of its administrator.
#[derive(Debug, Clone)]
pub(super) struct Administrator {
    address: SocketAddr,
    client: Client,
}

impl WorkDir {
    /// Creates the state in a folder; the database is in this folder or at the given URL.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(super) fn new(folder: &Path, database: Option<String>) -> Result<Self, Box<dyn Error>> {
        for name in ["built", "sources", "work"] {
            fs::create_dir_all(folder.join(name))?;
        }
        fs::write(folder.join("key"), ENCRYPTION_KEY)?;
        let tokens =
            json!({"tokens": {"proof": {"api_key": KEY, "scopes": [{"role": "administrator"}]}}});
        fs::write(folder.join("config.json"), tokens.to_string())?;
        let local = || format!("sqlite:{}", folder.join("control.db").display());
        Ok(Self {
            folder: folder.to_owned(),
            database: database.unwrap_or_else(local),
            environment: Vec::new(),
            client: Client::builder().timeout(HANG_LIMIT).build()?,
        })
    }

    /// Sets an environment variable for all control planes with this state.
    pub(super) fn environment(&mut self, name: &'static str, value: &Path) {
        self.environment.push((name, value.to_owned()));
    }

    /// Starts a control plane that logs to `NAME.log`, and waits until it responds.
    ///
    /// # Errors
    /// When the control plane does not start; the error contains its log.
    pub(super) async fn start(&self, name: &str) -> Result<ControlPlane, Box<dyn Error>> {
        let address = free_address()?;
        let path = self.folder.join(format!("{name}.log"));
        let log = fs::File::options().create(true).append(true).open(&path)?;
        let process = Command::new(program())
            .arg("control")
            // The microseconds distinguish the times at which builds end.
            .args(["--log-timestamp-format", "2006-01-02T15:04:05.000000Z07:00"])
            .args(["--addr", &address.to_string(), "--database", &self.database])
            .arg("--encryption-key-file")
            .arg(self.folder.join("key"))
            .arg("--config")
            .arg(self.folder.join("config.json"))
            .arg("--source-root")
            .arg(self.folder.join("sources"))
            .arg("--bundle-root")
            .arg(self.folder.join("built"))
            .arg("--data-dir")
            .arg(self.folder.join("work").join(name))
            .args(["--allow-host", "127.0.0.1", "--allow-secrets-over-http"])
            .args(["--rebuild-interval", "1s"])
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let mut plane = ControlPlane {
            administrator: Administrator {
                address,
                client: self.client.clone(),
            },
            process,
        };
        let started = Instant::now();
        let url = format!("http://{address}/health");
        while !matches!(self.client.get(&url).send().await, Ok(answer) if answer.status().is_success())
        {
            if started.elapsed() > HANG_LIMIT || plane.process.try_wait()?.is_some() {
                let log_text = fs::read_to_string(&path).unwrap_or_default();
                return Err(format!("the control plane does not start: {log_text}").into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(plane)
    }
}

impl Administrator {
    /// Sends a request as the administrator; returns the status and the body of the response.
    ///
    /// # Errors
    /// When there is no response.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value), reqwest::Error> {
        let url = format!("http://{}{path}", self.address);
        let mut request = self.client.request(method, url).bearer_auth(KEY);
        if let Some(body) = body {
            request = request.body(body.to_string());
        }
        let answer = request.send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
    }

    /// Stores a definition.
    ///
    /// # Errors
    /// When the definition is rejected.
    pub(super) async fn put(&self, path: &str, body: &Value) -> Result<(), Box<dyn Error>> {
        match self.send(Method::PUT, path, Some(body)).await? {
            (StatusCode::OK, _) => Ok(()),
            (status, response) => Err(format!("PUT {path}: {status} {response}").into()),
        }
    }

    /// Creates a source and a bundle of the same name; the bundle contains the data that is pushed
    /// to the source, and is written to `NAME.tar.gz` in a folder.
    ///
    /// # Errors
    /// When a definition is rejected.
    pub(super) async fn put_pushed(&self, name: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
        let file = folder.join(format!("{name}.tar.gz"));
        let bundle = json!({
            "object_storage": {"filesystem": {"path": file.display().to_string()}},
            "requirements": [{"source": name}],
        });
        self.put(&format!("/v1/sources/{name}"), &json!({})).await?;
        self.put(&format!("/v1/bundles/{name}"), &bundle).await
    }

    /// Returns the status of the last build of a bundle; null before the first one.
    ///
    /// # Errors
    /// When there is no response.
    pub(super) async fn latest(&self, bundle: &str) -> Result<Value, Box<dyn Error>> {
        let path = format!("/v1/bundles/{bundle}/status/latest");
        let (status, body) = self.send(Method::GET, &path, None).await?;
        match status {
            StatusCode::OK => Ok(value_at(&body, "/result").clone()),
            StatusCode::NOT_FOUND => Ok(Value::Null),
            _ => Err(format!("GET {path}: {status} {body}").into()),
        }
    }
}

impl ControlPlane {
    /// Returns the process id.
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends a signal to the process.
    ///
    /// # Errors
    /// When the process has ended.
    pub(super) fn signal(&self, name: &str) -> Result<(), Box<dyn Error>> {
        let mut command = Command::new("kill");
        complete(command.args(["-s", name, &self.id().to_string()]))
    }

    /// Kills the process (SIGKILL).
    pub(super) fn kill(&mut self) {
        // The process may have ended already.
        let _killed = self.process.kill();
        let _waited = self.process.wait();
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the path of the program under test.
pub(super) fn program() -> PathBuf {
    root().join("target/debug/reference")
}

/// Builds the program under test, with the same command as the tests.
///
/// # Errors
/// When it does not build.
pub(super) fn build() -> Result<(), Box<dyn Error>> {
    let arguments = ["build", "--workspace", "--all-targets"];
    complete(cargo().current_dir(root()).args(arguments))
}
