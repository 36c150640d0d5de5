//! Control plane with users of every role.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::harness::{ATTACKER, Harness};
use crate::bundles::archive;
use crate::servers::{Failure, HANG_LIMIT, Process, exchange, request_with};

/// Users of the control plane: the names of their tokens, and their roles. An API key is the name
/// followed by [`KEY_END`].
pub(super) const PEOPLE: &[(&str, &str)] = &[
    ("admin", "administrator"),
    ("looker", "viewer"),
    ("first", "owner"),
    ("second", "owner"),
    ("stacker", "stack_owner"),
];

/// Suffix of API keys.
const KEY_END: &str = "-has-a-long-key-of-32-characters";

/// Encryption key for attacks.
pub(super) const ENCRYPTION_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";

/// Maximum duration of a failing start, as a multiple of a successful one, which does all the same
/// work and more. A start that waits for a resource takes half a minute.
const FAILED_START: u32 = 10;
const FAILED_START_FLOOR: Duration = Duration::from_secs(5);

/// Running control plane.
#[derive(Debug)]
pub(super) struct ControlPlane {
    pub(super) process: Process,
}

/// User of a control plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct User {
    to: SocketAddr,
    name: &'static str,
}

/// Configuration of the users' tokens.
pub(super) fn tokens() -> Value {
    let tokens = PEOPLE.iter().map(|(name, role)| {
        let key = format!("{name}{KEY_END}");
        (
            (*name).to_owned(),
            json!({"api_key": key, "scopes": [{"role": role}]}),
        )
    });
    json!({"tokens": tokens.collect::<serde_json::Map<_, _>>()})
}

/// Starts a control plane with the users, a database in the harness's folder unless the arguments
/// name another, bundles below `built`, sources below `sources`, and builds every second.
///
/// # Errors
/// When it does not start.
pub(super) async fn plane(harness: &Harness, arguments: &[&str]) -> Result<ControlPlane, Failure> {
    let mut command = command(harness, arguments)?;
    let process = Process::start(&mut command, &harness.folder).await?;
    Ok(ControlPlane { process })
}

/// Returns the command that starts the control plane.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn command(
    harness: &Harness,
    arguments: &[&str],
) -> Result<std::process::Command, Failure> {
    let config = harness.file("config.json", &tokens().to_string())?;
    let key = harness.file("key", ENCRYPTION_KEY)?;
    let (sources, built) = (harness.inner("sources")?, harness.inner("built")?);
    let database = format!("sqlite:{}", harness.folder.join("control.db").display());
    let mut all = vec!["--config", &config, "--source-root", &sources];
    all.extend(["--bundle-root", &built, "--rebuild-interval", "1s"]);
    if !arguments.contains(&"--database") {
        all.extend(["--database", &database]);
    }
    if !arguments.contains(&"--encryption-key-file") {
        all.extend(["--encryption-key-file", &key]);
    }
    all.extend(arguments);
    Ok(harness.command("control", &all))
}

impl ControlPlane {
    /// Returns the user with this name.
    pub(super) fn person(&self, name: &'static str) -> User {
        let to = self.process.address;
        User { to, name }
    }
}

impl User {
    /// Returns the name of the user's token.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// Sends a request; returns the status and the body of the response.
    ///
    /// # Errors
    /// When there is no response.
    pub(super) async fn send(
        self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<(u16, Value), Failure> {
        let authorization = format!("Authorization: Bearer {}{KEY_END}\r\n", self.name);
        let body = match method {
            "GET" | "DELETE" => String::new(),
            _ => body.to_string(),
        };
        let request = request_with(method, path, &authorization, body.as_bytes());
        let answer = exchange(self.to, ATTACKER, &request).await?;
        Ok((answer.status(), answer.json()))
    }

    /// Sends a PUT request that must succeed.
    ///
    /// # Errors
    /// When it does not succeed.
    pub(super) async fn put(self, path: &str, body: Value) -> Result<(), Failure> {
        match self.send("PUT", path, &body).await? {
            (200, _) => Ok(()),
            (status, response) => Err(format!("PUT {path}: {status} {response}").into()),
        }
    }

    /// Waits until the status of a bundle satisfies the predicate; returns the status.
    ///
    /// # Errors
    /// The last status, when it never does.
    pub(super) async fn until_status(
        self,
        bundle: &str,
        holds: impl Fn(&str) -> bool,
    ) -> Result<String, String> {
        let start = Instant::now();
        let path = format!("/v1/bundles/{bundle}/status/latest");
        loop {
            let result = self.send("GET", &path, &Value::Null).await;
            let (_, status) = result.map_err(|error| error.to_string())?;
            let status = status.to_string();
            if holds(&status) {
                return Ok(status);
            }
            if start.elapsed() > HANG_LIMIT {
                return Err(status);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Creates a source, pushes data to it, and creates a bundle of the source that is built to a
    /// file.
    ///
    /// # Errors
    /// When a request does not succeed.
    pub(super) async fn bundle(self, name: &str, file: &str, data: Value) -> Result<(), Failure> {
        self.put(&format!("/v1/sources/{name}"), json!({})).await?;
        self.put(&format!("/v1/sources/{name}/data/{name}"), data)
            .await?;
        let body = in_file(file, &json!([{"source": name}]));
        self.put(&format!("/v1/bundles/{name}"), body).await
    }
}

/// Returns the definition of a bundle that is built to a file and has these requirements.
pub(super) fn in_file(file: &str, requirements: &Value) -> Value {
    json!({
        "object_storage": {"filesystem": {"path": file}},
        "requirements": requirements,
    })
}

/// Maximum duration of a failing start, given that of a successful one.
pub(super) fn failed_start(succeeded: Duration) -> Duration {
    (succeeded * FAILED_START).max(FAILED_START_FLOOR)
}

/// Returns the current data of a built bundle, if there is one.
pub(super) fn built(harness: &Harness, file: &str) -> Option<Value> {
    let bytes = std::fs::read(harness.folder.join("built").join(file)).ok()?;
    archive::data(&bytes).ok()
}

/// Waits until a condition is true.
///
/// # Errors
/// When the condition does not become true within the hang limit.
pub(super) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) -> Result<(), String> {
    let start = Instant::now();
    while !holds() {
        if start.elapsed() > HANG_LIMIT {
            return Err(format!("{what}: not within {} s", HANG_LIMIT.as_secs()));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
