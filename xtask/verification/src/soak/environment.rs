//! Servers of the soak test: engine, control plane, storage, and receiver of decision logs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use tokio::time::sleep;

use super::tally::ClientResults;
use crate::servers::{Failure, HANG_LIMIT, Message, Peer, PeerScript, Process, Sink};

/// File name of the built bundle.
pub(super) const BUNDLE: &str = "bundled.tar.gz";

/// API key of the administrator.
const KEY: &str = "soak-administrator-key";

/// Encryption key for tests.
const ENCRYPTION_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";

const POLICY: &str = "package soak\n\ndefault allow := false\n\nallow if input.user == \"ann\"\n\n\
    allow if input.level > 7\n\n\
    doubled contains 2 * n if {\n\tsome n in numbers.range(0, input.level)\n\tn > 0\n}\n";

/// Running servers; stopped when dropped.
#[derive(Debug)]
pub(super) struct Environment {
    pub(super) engine: Process,
    pub(super) control: Process,
    sink: Sink,
    /// Ids of all decisions in responses.
    answered: BTreeSet<String>,
    /// Number of decisions in responses without an id.
    unnamed: usize,
    _peers: [Peer; 2],
}

/// Addresses and API key for the client that changes definitions.
#[derive(Debug)]
pub(super) struct DefinitionServer {
    pub(super) control: SocketAddr,
    pub(super) engine: SocketAddr,
    pub(super) key: &'static str,
}

impl Environment {
    /// Starts all servers in a folder.
    ///
    /// # Errors
    /// When a server does not start.
    pub(super) async fn start(program: &Path, folder: &Path) -> Result<Self, Failure> {
        let sink = Sink::new();
        let listening = sink.listen(0).await?;
        let built = folder.join("built");
        fs::create_dir_all(&built)?;
        let shelf = shelve(built.join(BUNDLE)).await?;
        let config = json!({
            "services": {
                "sink": {"url": format!("http://{}", listening.address)},
                "shelf": {"url": format!("http://{}", shelf.address)},
            },
            "bundles": {"bundled": {
                "service": "shelf", "resource": BUNDLE,
                "polling": {"min_delay_seconds": 0.2, "max_delay_seconds": 0.4},
            }},
            "decision_logs": {"service": "sink", "reporting": {
                "min_delay_seconds": 0.2, "max_delay_seconds": 0.5,
            }},
        });
        fs::write(folder.join("engine.json"), config.to_string())?;
        fs::write(folder.join("soak.rego"), POLICY)?;
        fs::write(folder.join("key"), ENCRYPTION_KEY)?;
        let tokens =
            json!({"tokens": {"soak": {"api_key": KEY, "scopes": [{"role": "administrator"}]}}});
        fs::write(folder.join("control.json"), tokens.to_string())?;
        let mut engine = Command::new(program);
        engine
            .current_dir(folder)
            .args(["engine", "--log-level", "error"]);
        engine.args(["--config-file", "engine.json", "soak.rego"]);
        let mut control = Command::new(program);
        control
            .current_dir(folder)
            .args(["control", "--log-level", "error"]);
        control.args(["--config", "control.json", "--encryption-key-file", "key"]);
        control.args(["--database", "sqlite:control.db", "--bundle-root", "built"]);
        control.args(["--rebuild-interval", "1s"]);
        let control = Process::start(&mut control, folder).await?;
        Ok(Self {
            engine: Process::start(&mut engine, folder).await?,
            control,
            sink,
            answered: BTreeSet::new(),
            unnamed: 0,
            _peers: [listening, shelf],
        })
    }

    pub(super) fn definition_server(&self) -> DefinitionServer {
        DefinitionServer {
            control: self.control.address,
            engine: self.engine.address,
            key: KEY,
        }
    }

    /// Records the decisions in a client's results.
    pub(super) fn remember(&mut self, tally: &ClientResults) {
        self.answered.extend(tally.ids.iter().cloned());
        self.unnamed += tally.unnamed;
    }

    /// Waits until the receiver has every decision, then stops the servers. Returns error messages
    /// about lost or doubled decisions.
    ///
    /// # Errors
    /// When a server has ended before.
    pub(super) async fn end(&mut self) -> Result<Vec<String>, Failure> {
        let mut broken = Vec::new();
        let start = Instant::now();
        let missing = loop {
            let there: BTreeSet<String> = self.sink.ids().into_iter().collect();
            let all = self.answered.len() + self.unnamed;
            let named = self.answered.difference(&there).count();
            let missing = named.max(all.saturating_sub(there.len()));
            if missing == 0 || start.elapsed() > HANG_LIMIT {
                break missing;
            }
            sleep(Duration::from_millis(200)).await;
        };
        if missing > 0 {
            broken.push(format!("{missing} decisions are not at the sink"));
        }
        for server in [&mut self.engine, &mut self.control] {
            server.signal(Signal::TERM)?;
            let ended = server.wait_for_exit(HANG_LIMIT).await?;
            if !ended.is_some_and(|status| status.success()) {
                broken.push(format!("a server ended with {ended:?}"));
            }
            broken.extend(
                server
                    .output()
                    .lines()
                    .take(1)
                    .map(|line| format!("logged: {line}")),
            );
        }
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for id in self.sink.ids() {
            *counts.entry(id).or_default() += 1;
        }
        let doubled = counts.values().filter(|count| **count > 1).count();
        let all = self.answered.len() + self.unnamed;
        let unknown = counts.len().saturating_sub(all);
        for (what, number) in [
            ("came twice", doubled),
            ("nobody was answered with", unknown),
        ] {
            if number > 0 {
                broken.push(format!("{number} decisions {what}"));
            }
        }
        crate::report(
            "decisions",
            &format!("{all} answered, {} at the sink", counts.len()),
        );
        Ok(broken)
    }
}

/// Starts a server for a bundle file, with an ETag for conditional requests.
async fn shelve(file: PathBuf) -> Result<Peer, Failure> {
    let shelf = Peer::start(0, move |request: Message| {
        let file = file.clone();
        async move {
            let bytes = loop {
                match fs::read(&file) {
                    Ok(bytes) => break bytes,
                    // The file does not exist before the first build.
                    Err(_) => sleep(Duration::from_millis(50)).await,
                }
            };
            let tag = tag(&bytes);
            match request.header("if-none-match") == Some(tag.as_str()) {
                true => PeerScript::Answer(304, format!("ETag: {tag}\r\n"), Vec::new()),
                false => PeerScript::Answer(200, format!("ETag: {tag}\r\n"), bytes),
            }
        }
    });
    Ok(shelf.await?)
}

/// Returns an ETag for a content: its 64-bit FNV-1a hash.
fn tag(bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("\"{sum:016x}\"")
}
