//! Harness of an attack: program, flags and folders.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::health_monitor::CALM_POLICY;
use crate::servers::{Failure, Process};

/// Grace period for open requests at shutdown, in seconds.
const GRACE: &str = "2";

/// Value for those time limits of a server that no attack waits for: whatever ends before the hang
/// limit ended for another reason.
pub(super) const NEVER: &str = "1h";

/// Source address of attackers that use only one address.
pub(super) const ATTACKER: [u8; 4] = [127, 0, 0, 3];

/// Environment of one attack.
#[derive(Debug)]
pub(super) struct Harness {
    pub(super) program: PathBuf,
    /// Whether the attack may take a long time.
    pub(super) long: bool,
    /// Folder that only this attack uses.
    pub(super) folder: PathBuf,
}

impl Harness {
    /// Creates the harness of the attack with this name, below a folder.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub(super) fn new(
        program: &Path,
        long: bool,
        folder: &Path,
        name: &str,
    ) -> Result<Self, Failure> {
        let folder = folder.join(name);
        fs::create_dir_all(&folder)?;
        Ok(Self {
            program: program.to_owned(),
            long,
            folder,
        })
    }

    /// Writes a file into the attack's folder; returns its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn file(&self, name: &str, text: &str) -> Result<String, Failure> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text)?;
        Ok(path.display().to_string())
    }

    /// Writes the configuration of an engine that sends each decision to a sink with little delay;
    /// returns its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn logging(&self, sink: SocketAddr) -> Result<String, Failure> {
        let config = json!({
            "services": {"sink": {"url": format!("http://{sink}")}},
            "decision_logs": {"service": "sink", "reporting": {
                "min_delay_seconds": 0.1, "max_delay_seconds": 0.3,
            }},
        });
        self.file("engine.json", &config.to_string())
    }

    /// Creates a folder within the attack's folder; returns its path.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(super) fn inner(&self, name: &str) -> Result<String, Failure> {
        let path = self.folder.join(name);
        fs::create_dir_all(&path)?;
        Ok(path.display().to_string())
    }

    /// Returns the command of one of the servers, with the short grace period of attacks.
    pub(super) fn command(&self, role: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg(role)
            .args(["--shutdown-grace-period", GRACE])
            .args(arguments)
            .current_dir(&self.folder);
        if !arguments.contains(&"--log-level") {
            command.args(["--log-level", "error"]);
        }
        command
    }

    /// Starts an engine with [`CALM_POLICY`] and these policies.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) async fn engine(
        &self,
        arguments: &[&str],
        policies: &[(&str, &str)],
    ) -> Result<Process, Failure> {
        self.started(None, arguments, policies).await
    }

    /// Starts an engine that requires this bearer token.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) async fn engine_with_token(
        &self,
        token: &str,
        arguments: &[&str],
        policies: &[(&str, &str)],
    ) -> Result<Process, Failure> {
        self.started(Some(token), arguments, policies).await
    }

    async fn started(
        &self,
        token: Option<&str>,
        arguments: &[&str],
        policies: &[(&str, &str)],
    ) -> Result<Process, Failure> {
        let mut command = self.command("engine", arguments);
        for (name, text) in [&[CALM_POLICY], policies].concat() {
            command.arg(self.file(name, text)?);
        }
        Process::start_with_token(token, &mut command, &self.folder).await
    }

    /// Returns a flag with its value, or nothing if the program lacks the flag: the program is
    /// attacked all the same, and fails the attack.
    pub(super) fn setting<'f>(&self, role: &str, flag: &'f str, value: &'f str) -> Vec<&'f str> {
        let help = Command::new(&self.program).args([role, "--help"]).output();
        let known = help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains(flag));
        match known {
            true => vec![flag, value],
            false => Vec::new(),
        }
    }
}
