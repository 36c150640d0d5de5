//! A real server in this process, on a port of its own.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

use reference::Running;
use tokio::runtime::Runtime;

use crate::answers::{Answer, answers};
use crate::script::Connection;

/// When nothing has been answered for so long, the client closes its side.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection that is served no answer for so long hangs.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// File that records, every thousand connections, the statuses of each endpoint.
const STATUSES: &str = "FUZZ_STATUSES";

/// A server that keeps its state from one connection to the next.
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
    /// Starts the program with these arguments, on a free port.
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

    /// Sends all of it on a connection of its own, and gives everything that is answered until
    /// the server closes.
    pub fn talk(&self, connection: &Connection) -> Vec<Answer> {
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

    /// Counts the answers to requests of which each has one.
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

/// Reads until the server closes, or answers nothing for so long. A reset may take answers with it
/// that had not been read.
fn read(stream: &mut TcpStream, timeout: Duration, bytes: &mut Vec<u8>) -> bool {
    stream.set_read_timeout(Some(timeout)).unwrap();
    let read = stream.read_to_end(bytes);
    !read.is_err_and(|failure| failure.kind() == std::io::ErrorKind::WouldBlock)
}

/// Method, and the prefix of the path that identifies endpoints.
fn endpoint(line: &str) -> String {
    let (method, target) = line.split_once(' ').unwrap_or((line, ""));
    let path = target.split('?').next().unwrap_or_default();
    let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    let method = if known.contains(&method) {
        method
    } else {
        "(other)"
    };
    let steps: Vec<_> = path
        .split('/')
        .enumerate()
        .map(|(at, step)| {
            const FIXED: &[&str] = &[
                "", "v0", "v1", "data", "policies", "query", "compile", "config", "status",
                "latest", "health", "metrics", "bundles", "sources", "stacks", "secrets",
            ];
            match at {
                ..=2 if FIXED.contains(&step) => step,
                4.. if ["data", "status", "latest"].contains(&step) => step,
                _ => "*",
            }
        })
        .collect();
    format!("{method} {}", steps[..steps.len().min(6)].join("/"))
}
