//! Runs a real server in this process, on a separate port.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

use reference::Running;
use tokio::runtime::Runtime;

use crate::answers::{Answer, answers};
use crate::script::Connection;

/// Time without data after which the client closes its sending side.
const PAUSE: Duration = Duration::from_millis(100);

/// Time without data after which a connection counts as hanging.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Environment variable with the file to which the number of responses by endpoint and status is
/// written every thousand connections.
const STATUSES: &str = "FUZZ_STATUSES";

/// Running server that keeps its state between connections.
#[derive(Debug)]
pub struct Served {
    address: SocketAddr,
    statuses: Mutex<Statuses>,
    _running: Running,
    _runtime: Runtime,
}

#[derive(Debug, Default)]
struct Statuses {
    connections: usize,
    counts: BTreeMap<(String, u16), usize>,
}

impl Served {
    /// Starts a server with these arguments on a free port.
    pub fn start(arguments: &[&str]) -> Self {
        let runtime = Runtime::new().unwrap();
        let arguments = arguments.iter().chain(&["--addr", "127.0.0.1:0"]);
        let arguments = arguments.map(|argument| (*argument).to_owned());
        let running = runtime.block_on(reference::start(arguments)).unwrap();
        let address = running.engine.or(running.control).unwrap();
        Self {
            address,
            statuses: Mutex::default(),
            _running: running,
            _runtime: runtime,
        }
    }

    /// Sends the requests on a new connection; returns all responses until the server closes it.
    pub fn exchange(&self, connection: &Connection) -> Vec<Answer> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // A server that has refused what came first may close before it has read the rest.
        let _ = stream.write_all(&connection.bytes);
        let mut bytes = Vec::new();
        // Whoever closes his side has his evaluations ended, so that is left for later.
        let mut ended = !connection.open && read(&mut stream, PAUSE, &mut bytes);
        if !ended {
            let _ = stream.shutdown(Shutdown::Write);
            ended = read(&mut stream, ANSWER_TIMEOUT, &mut bytes);
        }
        assert!(
            ended,
            "no answer within {ANSWER_TIMEOUT:?} to {:?}",
            connection.lines
        );
        let answers = answers(&bytes);
        if let Ok(file) = std::env::var(STATUSES) {
            self.count(connection, &answers, &file);
        }
        answers
    }

    /// Counts the responses by endpoint and status, if there is one for each request.
    fn count(&self, connection: &Connection, answers: &[Answer], file: &str) {
        let mut statuses = self.statuses.lock().unwrap();
        statuses.connections += 1;
        if connection.lines.len() == answers.len() {
            for (line, answer) in connection.lines.iter().zip(answers) {
                let key = (endpoint(line), answer.status);
                *statuses.counts.entry(key).or_default() += 1;
            }
        }
        if statuses.connections.is_multiple_of(1_000) {
            let counts = statuses.counts.iter();
            let lines = counts
                .map(|((endpoint, status), count)| format!("{endpoint}\t{status}\t{count}\n"));
            std::fs::write(file, lines.collect::<String>()).unwrap();
        }
    }
}

/// Reads until the server closes the connection; returns false if it sends nothing within
/// `timeout`. A reset may discard responses that have not been read.
fn read(stream: &mut TcpStream, timeout: Duration, bytes: &mut Vec<u8>) -> bool {
    stream.set_read_timeout(Some(timeout)).unwrap();
    let result = stream.read_to_end(bytes);
    !result.is_err_and(|failure| failure.kind() == std::io::ErrorKind::WouldBlock)
}

/// Returns the method of a request line and the prefix of its path that identifies the endpoint.
fn endpoint(line: &str) -> String {
    let (method, target) = line.split_once(' ').unwrap_or((line, ""));
    let path = target.split('?').next().unwrap_or_default();
    let known_methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    let method = if known_methods.contains(&method) {
        method
    } else {
        "(other)"
    };
    let segments: Vec<_> = path
        .split('/')
        .enumerate()
        .map(|(index, segment)| {
            const FIXED: &[&str] = &[
                "", "v0", "v1", "data", "policies", "query", "compile", "config", "status",
                "latest", "health", "metrics", "bundles", "sources", "stacks", "secrets",
            ];
            match index {
                ..=2 if FIXED.contains(&segment) => segment,
                4.. if ["data", "status", "latest"].contains(&segment) => segment,
                _ => "*",
            }
        })
        .collect();
    format!("{method} {}", segments[..segments.len().min(6)].join("/"))
}
