//! Client adapters: processes that read an operation per line and write a reply per line.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::process_group::ProcessGroup;

/// Timeout for an adapter to exit once its input is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum length of a reply line, in bytes.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;
/// Number of characters shown of an invalid reply line.
const MAX_EXCERPT_CHARS: usize = 200;

/// Why there is no reply to judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    /// The process cannot be started.
    #[error("cannot start `{0}`: {1}")]
    Start(String, String),
    /// The process ended; contains how, if known.
    #[error("the adapter ended{0}")]
    AbortReason(String),
    /// No reply arrived within this time.
    #[error("the adapter did not answer within {} s", .0.as_secs_f32())]
    Slow(Duration),
    /// Invalid reply.
    #[error("invalid answer `{0}` of the adapter: {1}")]
    Garbled(String, String),
}

/// Adapter process, started on the first request, and again after a failure.
#[derive(Debug)]
pub(crate) struct Adapter {
    command: Vec<String>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    process: ProcessGroup,
    /// Standard input of the process; none once it is closed.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Adapter {
    /// Creates an adapter with this program and these arguments.
    pub(crate) fn new(command: Vec<String>) -> Self {
        Self {
            command,
            running: None,
        }
    }

    pub(super) async fn send(&mut self, request: &Value, limit: Duration) -> Result<Value, Broken> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.command)?,
        };
        let answer = match timeout(limit, running.send(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(Broken::Slow(limit)),
        };
        // A failed process is not reused; dropping it kills it.
        if answer.is_ok() {
            self.running = Some(running);
        }
        answer
    }

    /// Whether the process was started and has answered every request.
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Ends the process: closes its input, and kills it if it does not exit in time.
    pub(super) async fn end(&mut self) {
        if let Some(mut running) = self.running.take() {
            drop(running.input.take());
            let _ = timeout(EXIT_TIMEOUT, running.process.child.wait()).await;
        }
    }
}

impl Running {
    fn start(command: &[String]) -> Result<Self, Broken> {
        let failed = |error: io::Error| {
            let program = command.first().cloned().unwrap_or_default();
            Broken::Start(program, error.to_string())
        };
        let missing = || failed(io::Error::other("there is no command"));
        let (program, arguments) = command.split_first().ok_or_else(missing)?;
        let mut start = Command::new(program);
        start
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = ProcessGroup::start(&mut start).map_err(failed)?;
        let piped = process.child.stdin.take().zip(process.child.stdout.take());
        let (input, output) = piped.ok_or_else(|| failed(io::Error::other("it has no pipes")))?;
        Ok(Self {
            process,
            input: Some(input),
            output: BufReader::new(output),
        })
    }

    async fn send(&mut self, request: &Value) -> Result<Value, Broken> {
        let line = format!("{request}\n");
        let written = async {
            let input = self.input.as_mut();
            let input = input.ok_or_else(|| io::Error::other("its input is closed"))?;
            input.write_all(line.as_bytes()).await?;
            input.flush().await
        };
        if written.await.is_err() {
            return Err(self.ended().await);
        }
        let mut line = Vec::new();
        let mut output = tokio::io::AsyncReadExt::take(&mut self.output, MAX_LINE_BYTES);
        match output.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return Err(self.ended().await),
            Ok(_) => {}
        }
        serde_json::from_slice(&line).map_err(|error| {
            let text = String::from_utf8_lossy(&line);
            let excerpt = text.trim_end().chars().take(MAX_EXCERPT_CHARS).collect();
            Broken::Garbled(excerpt, error.to_string())
        })
    }

    async fn ended(&mut self) -> Broken {
        let ended = timeout(EXIT_TIMEOUT, self.process.child.wait()).await;
        Broken::AbortReason(match ended {
            Ok(Ok(status)) => format!(" ({status})"),
            _ => String::new(),
        })
    }
}
