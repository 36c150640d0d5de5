//! Process with arguments, and its log.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::environment::{Done, HANG_LIMIT};

/// Engine process, killed at the end of the test.
pub(crate) struct Started {
    process: Child,
    lines: Arc<Mutex<Vec<String>>>,
    /// Thread that reads the log until the process ends.
    reader: JoinHandle<()>,
}

impl Drop for Started {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl Started {
    /// Starts `reference engine` with arguments.
    pub(crate) fn engine<S: AsRef<std::ffi::OsStr>>(
        args: impl IntoIterator<Item = S>,
    ) -> Done<Self> {
        let mut process = Command::new(env!("CARGO_BIN_EXE_reference"))
            .arg("engine")
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let log = BufReader::new(process.stderr.take().ok_or("no log")?).lines();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines_for_reader = Arc::clone(&lines);
        let reader = std::thread::spawn(move || {
            for line in log.map_while(Result::ok) {
                lines_for_reader
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(line);
            }
        });
        Ok(Self {
            process,
            lines,
            reader,
        })
    }

    /// Returns the log up to this moment.
    pub(crate) fn log(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.join("\n")
    }

    /// Returns the log lines with a message, as JSON objects.
    pub(crate) fn events(&self, message: &str) -> Vec<Value> {
        let log = self.log();
        let events = log
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.filter(|event| event["msg"] == message).collect()
    }

    /// Waits until the log contains words or the process ends; returns true if it contains them.
    pub(crate) fn wait_for_log(&mut self, text: &str) -> Done<bool> {
        let started = Instant::now();
        loop {
            let is_read = self.reader.is_finished();
            if self.log().contains(text) {
                return Ok(true);
            }
            if is_read || started.elapsed() > HANG_LIMIT {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the log line with a message, and returns the address in it.
    pub(crate) fn address(&mut self, message: &str) -> Done<SocketAddr> {
        self.wait_for_log(message)?;
        let events = self.events(message);
        let event = events
            .first()
            .ok_or_else(|| format!("no `{message}` in: {}", self.log()))?;
        Ok(event["address"].as_str().unwrap_or_default().parse()?)
    }

    /// Waits until the process has ended.
    pub(crate) fn ended(&mut self) -> Done<ExitStatus> {
        Ok(self.process.wait()?)
    }
}
