//! Adapter processes: read questions and write answers, one line of JSON each.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::process_group::ProcessGroup;

/// Maximum length of an answer line, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Timeout for an adapter that has closed its output to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// Number of characters shown of an invalid answer line.
const MAX_EXCERPT_CHARS: usize = 200;

/// Texts of policies by id.
pub(super) type Modules = BTreeMap<String, String>;

/// Question to an adapter: the value of one document.
#[derive(Debug, Serialize)]
pub(super) struct Question<'a> {
    /// Every loaded policy.
    pub(super) modules: &'a Modules,
    /// The root of the base documents.
    pub(super) data: &'a Value,
    /// Path of the document: names, and indices of arrays.
    pub(super) path: &'a [Value],
    /// The input document, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<&'a Value>,
    /// Whether errors of built-in functions are errors of the decision.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) strict_builtin_errors: bool,
}

/// Answer of an adapter.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    Defined(Value),
    Undefined,
    Failed(Failure),
}

/// Why there is no decision.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Failure {
    /// Error code, `invalid_parameter` if the policies cannot be compiled. When a policy is loaded,
    /// any code makes that fail.
    #[serde(default = "internal")]
    pub(super) code: String,
    pub(super) message: String,
}

fn internal() -> String {
    "internal_error".to_owned()
}

/// An answer line of the adapter.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Failure>,
}

/// Deserializes a member that may be null: null is a result, too.
fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

impl Decision {
    fn read(line: &[u8]) -> Result<Self, String> {
        let text = || {
            let text = String::from_utf8_lossy(line);
            text.trim()
                .chars()
                .take(MAX_EXCERPT_CHARS)
                .collect::<String>()
        };
        let line: Line = serde_json::from_slice(line)
            .map_err(|error| format!("the adapter answered no answer ({error}): {}", text()))?;
        match (line.result, line.error) {
            (Some(_), Some(_)) => Err(format!(
                "the adapter answered a result and an error: {}",
                text()
            )),
            (Some(value), None) => Ok(Self::Defined(value)),
            (None, Some(failure)) => Ok(Self::Failed(failure)),
            (None, None) => Ok(Self::Undefined),
        }
    }
}

/// An adapter process. It is started on the first question, and again after it ended, hung or wrote
/// an invalid answer.
#[derive(Debug)]
pub(super) struct Adapter {
    command: Vec<OsString>,
    timeout: Duration,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    /// The adapter and its child processes, which are killed when this value is dropped.
    process: ProcessGroup,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Adapter {
    pub(super) fn new(command: Vec<OsString>, timeout: Duration) -> Self {
        Self {
            command,
            timeout,
            running: Mutex::default(),
        }
    }

    /// Sends a trivial question, to check that the adapter answers.
    ///
    /// # Errors
    /// As [`Self::decide`].
    pub(super) async fn check(&self) -> Result<(), String> {
        let question = Question {
            modules: &Modules::new(),
            data: &json!({}),
            path: &[],
            input: None,
            strict_builtin_errors: false,
        };
        self.decide(&question).await.map(drop)
    }

    /// Sends one question to the adapter; concurrent calls wait.
    ///
    /// # Errors
    /// A message that explains why there is no answer.
    pub(super) async fn decide(&self, question: &Question<'_>) -> Result<Decision, String> {
        let mut line = serde_json::to_vec(question).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let mut running = self.running.lock().await;
        // It is stored again only after its answer was read to the end: after a cancelled question,
        // the process would answer the next question with this answer.
        let mut active = match running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let answer = match timeout(self.timeout, active.exchange(&line)).await {
            Ok(answer) => answer?,
            Err(_) => {
                let seconds = self.timeout.as_secs_f32();
                return Err(format!("the adapter did not answer within {seconds} s"));
            }
        };
        let decision = Decision::read(&answer)?;
        *running = Some(active);
        Ok(decision)
    }

    fn start(&self) -> Result<Running, String> {
        let (program, arguments) = self.command.split_first().ok_or("there is no adapter")?;
        let cannot = |reason: &dyn std::fmt::Display| {
            format!("cannot start `{}`: {reason}", program.to_string_lossy())
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = ProcessGroup::start(&mut command).map_err(|error| cannot(&error))?;
        let pipes = process.child.stdin.take().zip(process.child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| cannot(&"it has no pipes"))?;
        Ok(Running {
            process,
            input,
            output: BufReader::new(output),
        })
    }
}

impl Running {
    /// Writes a question line and reads the answer line.
    async fn exchange(&mut self, line: &[u8]) -> Result<Vec<u8>, String> {
        // An adapter that ends need not have read the line; its last output is more informative.
        let written = self.input.write_all(line).await;
        let mut answer = Vec::new();
        let read = (&mut self.output)
            .take(MAX_ANSWER_BYTES)
            .read_until(b'\n', &mut answer)
            .await;
        if answer.ends_with(b"\n") {
            return Ok(answer);
        }
        if answer.len() as u64 == MAX_ANSWER_BYTES {
            return Err("the adapter's answer is longer than 64 MiB".to_owned());
        }
        let ended = timeout(EXIT_TIMEOUT, self.process.child.wait()).await;
        Err(match (ended, read.and(written)) {
            (Ok(Ok(status)), _) => format!("the adapter ended ({status})"),
            (_, Err(error)) => format!("the adapter cannot be reached: {error}"),
            _ => "the adapter closed its output".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn failed(code: &str) -> Decision {
        Decision::Failed(Failure {
            code: code.to_owned(),
            message: "why".to_owned(),
        })
    }

    #[rstest]
    #[case::result("{\"result\":[1]}\n", Some(Decision::Defined(json!([1]))))]
    #[case::null("{\"result\":null}", Some(Decision::Defined(Value::Null)))]
    #[case::undefined("{}\n", Some(Decision::Undefined))]
    #[case::error("{\"error\":{\"message\":\"why\"}}", Some(failed("internal_error")))]
    #[case::error_with_code(
        "{\"error\":{\"code\":\"invalid_parameter\",\"message\":\"why\",\"at\":1}}",
        Some(failed("invalid_parameter"))
    )]
    #[case::result_and_error("{\"result\":1,\"error\":{\"message\":\"why\"}}", None)]
    #[case::unknown_member("{\"results\":1}", None)]
    #[case::error_is_no_object("{\"error\":\"why\"}", None)]
    #[case::no_object("true", None)]
    #[case::empty("", None)]
    fn a_line_is_a_result_nothing_or_an_error(
        #[case] line: &str,
        #[case] expected: Option<Decision>,
    ) {
        assert_eq!(Decision::read(line.as_bytes()).ok(), expected);
    }
}
