//! Git repository with an HTTP server.

use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::storage::target;
use crate::command::complete;
use crate::servers::{Failure, Message, Peer, PeerScript};

/// Git repository in a folder, with a branch `main`.
#[derive(Debug, Clone)]
pub(super) struct Repository(PathBuf);

impl Repository {
    /// Creates an empty repository in a folder.
    ///
    /// # Errors
    /// When git fails to create it.
    pub(super) fn new(folder: &str) -> Result<Self, Failure> {
        let repository = Self(folder.into());
        repository.git(&["init", "--quiet", "--initial-branch", "main"])?;
        Ok(repository)
    }

    /// Commits a file.
    ///
    /// # Errors
    /// When git fails.
    pub(super) fn commit(&self, path: &str, text: &str) -> Result<(), Failure> {
        let file = self.0.join(path);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, text)?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", path])
    }

    fn git(&self, arguments: &[&str]) -> Result<(), Failure> {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@localhost"]);
        command.args(["-c", "commit.gpgsign=false"]);
        let command = command.args(arguments).current_dir(&self.0);
        complete(command).map_err(|error| error.to_string().into())
    }

    /// Serves the repository over HTTP, under any path prefix.
    ///
    /// # Errors
    /// When no port is free.
    pub(super) async fn listen(&self) -> Result<Peer, Failure> {
        let repository = self.clone();
        let peer = Peer::start(0, move |request| {
            let repository = repository.clone();
            async move {
                repository
                    .answer(request)
                    .await
                    .unwrap_or(PeerScript::status(500))
            }
        });
        Ok(peer.await?)
    }

    async fn answer(&self, request: Message) -> Result<PeerScript, Failure> {
        let mut command = Command::new("git");
        command.args(["upload-pack", "--stateless-rpc"]);
        let (method, path) = target(&request);
        let (kind, start): (_, &[u8]) = match (method, path.rsplit('/').next()) {
            ("GET", Some("refs")) => {
                command.arg("--http-backend-info-refs");
                ("advertisement", b"001e# service=git-upload-pack\n0000")
            }
            ("POST", _) => ("result", b""),
            _ => return Ok(PeerScript::status(404)),
        };
        if let Some(protocol) = request.header("git-protocol") {
            command.env("GIT_PROTOCOL", protocol);
        }
        command
            .arg(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut running = command.stderr(Stdio::null()).spawn()?;
        if let Some(mut stdin) = running.stdin.take() {
            stdin.write_all(&request.body).await?;
        }
        let output = running.wait_with_output().await?.stdout;
        let kind = format!("Content-Type: application/x-git-upload-pack-{kind}\r\n");
        Ok(PeerScript::Answer(200, kind, [start, &output].concat()))
    }
}
