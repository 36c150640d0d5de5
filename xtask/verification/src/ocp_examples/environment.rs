//! Executes examples with a control plane.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::script::{Example, Step};
use super::{Bundles, endpoint};
use crate::servers::{ExternalProcess, HANG_LIMIT, free_address};

/// API key of the administrator.
const KEY: &str = "examples-administrator-key";

/// Interval between requests while waiting.
const GLANCE: Duration = Duration::from_millis(100);

/// Program that executes the examples.
#[derive(Debug)]
pub(super) enum Program {
    Reference(PathBuf),
    Opactl(PathBuf),
}

/// Environment of the examples: the program, the built-in libraries, and the HTTP server.
#[derive(Debug)]
pub(super) struct Environment {
    program: Program,
    /// Folder of the built-in libraries.
    libraries: PathBuf,
    /// Address of the HTTP server with the data of datasources.
    endpoint: SocketAddr,
    client: Client,
}

/// Result of an example: the names of the built files.
#[derive(Debug, Default)]
pub(super) struct BuiltFiles {
    pub(super) bundles: Bundles,
    /// Statuses of bundles that were not built, or the reason why the control plane did not start.
    pub(super) failures: String,
}

impl Environment {
    /// Creates the environment for a program, and starts the HTTP server.
    ///
    /// # Errors
    /// When no port is free.
    pub(super) async fn new(program: Program, libraries: PathBuf) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            program,
            libraries,
            endpoint: endpoint::start().await?,
            client: Client::builder().timeout(HANG_LIMIT).build()?,
        })
    }

    /// Executes an example in an empty folder.
    ///
    /// # Errors
    /// When a step before the start fails, or the control plane stops responding.
    pub(super) async fn build(
        &self,
        example: &Example,
        folder: &Path,
    ) -> Result<BuiltFiles, Box<dyn Error>> {
        for (path, text) in &example.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        let tokens = json!({"tokens": {"examples": {
            "api_key": KEY,
            "scopes": [{"role": "administrator"}],
        }}});
        fs::write(folder.join("examples.json"), tokens.to_string())?;
        let environment = self.prepare(example, folder)?;
        let address = free_address()?;
        let mut command = self.command(example, address);
        command.current_dir(folder).envs(&environment);
        let plane = match ExternalProcess::start("control", &mut command, address, folder) {
            Ok(plane) => plane,
            Err(refused) => {
                return Ok(BuiltFiles {
                    failures: refused.to_string(),
                    ..BuiltFiles::default()
                });
            }
        };
        let base = format!("http://{address}{}", example.prefix());
        for (path, text) in &example.puts {
            let address = format!("{base}{path}");
            let put = self.client.put(&address).body(text.clone());
            self.request_until_ok(&address, put).await?;
        }
        let built = self.built_files(&base, folder).await;
        drop(plane);
        built
    }

    /// Executes the steps before the start of the control plane; returns the environment variables
    /// that they set.
    fn prepare(
        &self,
        example: &Example,
        folder: &Path,
    ) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
        let endpoint = ("HTTP_ENDPOINT".to_owned(), self.endpoint.to_string());
        let mut environment = BTreeMap::from([endpoint]);
        let mut here = folder.to_owned();
        for step in &example.steps {
            match step {
                Step::Enter(path) => here = here.join(path).canonicalize()?,
                Step::Set(name, value) => {
                    environment.insert(name.clone(), value.clone());
                }
                Step::Run(words) => {
                    let [program, arguments @ ..] = words.as_slice() else {
                        continue;
                    };
                    let mut command = Command::new(program);
                    command
                        .args(arguments)
                        .current_dir(&here)
                        .envs(&environment);
                    let done = command
                        .output()
                        .map_err(|error| format!("{program}: {error}"))?;
                    if !done.status.success() {
                        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
                        return Err(format!("{}: {stderr}", words.join(" ")).into());
                    }
                }
            }
        }
        Ok(environment)
    }

    /// Returns the command that starts the control plane. Relative paths are relative to the folder
    /// of the example.
    fn command(&self, example: &Example, address: SocketAddr) -> Command {
        let address = address.to_string();
        let mut command = match &self.program {
            Program::Reference(program) => {
                let mut command = Command::new(program);
                command.args(["control", "--source-root", ".", "--bundle-root", "."]);
                command.arg("--builtin-root").arg(&self.libraries);
                command.args(["--allow-host", "127.0.0.1", "--allow-secrets-over-http"]);
                command.args(["--revision-env", "BUILD_NUMBER"]);
                command
            }
            Program::Opactl(program) => {
                let mut command = Command::new(program);
                command.args(["run", "--data-dir", "data"]);
                command
            }
        };
        command.args(["--addr", &address]);
        let config = example.config.iter().map(String::as_str);
        for path in config.chain(["examples.json"]) {
            command.args(["--config", path]);
        }
        command
    }

    /// Waits until each bundle was built or has failed; returns the names of the built files.
    async fn built_files(&self, base: &str, folder: &Path) -> Result<BuiltFiles, Box<dyn Error>> {
        let mut built = BuiltFiles::default();
        let listed = self.get(&format!("{base}/v1/bundles")).await?;
        for bundle in listed
            .pointer("/result")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let text = |pointer: &str| bundle.pointer(pointer).and_then(Value::as_str);
            let (Some(name), Some(path)) = (text("/name"), text("/object_storage/filesystem/path"))
            else {
                continue;
            };
            let status = self
                .get(&format!("{base}/v1/bundles/{name}/status/latest"))
                .await?;
            let file = folder.join(path);
            if file.is_file() {
                built.bundles.insert(path.to_owned(), names(&file)?);
            } else {
                // Writing to a string does not fail.
                let _ = writeln!(built.failures, "{name}: {status}");
            }
        }
        Ok(built)
    }

    async fn get(&self, address: &str) -> Result<Value, Box<dyn Error>> {
        self.request_until_ok(address, self.client.get(address))
            .await
    }

    /// Repeats a request until it succeeds. OPA Control Plane responds with 500 or 401 while it
    /// writes to its database, and a build has no status before it ends.
    async fn request_until_ok(
        &self,
        address: &str,
        request: RequestBuilder,
    ) -> Result<Value, Box<dyn Error>> {
        let start = Instant::now();
        let request = request.bearer_auth(KEY).build()?;
        loop {
            let again = request
                .try_clone()
                .ok_or("a request cannot be sent twice")?;
            let answer = self.client.execute(again).await?;
            let status = answer.status();
            let text = answer.text().await?;
            if status.is_success() {
                return Ok(serde_json::from_str(&text)?);
            }
            if start.elapsed() > HANG_LIMIT {
                return Err(format!("{address}: {status} {text}").into());
            }
            tokio::time::sleep(GLANCE).await;
        }
    }
}

/// Returns the sorted file names in a bundle.
fn names(file: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut archive = tar::Archive::new(GzDecoder::new(fs::File::open(file)?));
    let mut names = Vec::new();
    for entry in archive.entries()? {
        names.push(entry?.path()?.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
