//! Running mock, and requests to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::program::{HANG_LIMIT, Program};

const POLICY: &str = "package authz\n\nallow if input.user == data.admins[_]\n";

/// Running mock, killed when dropped.
pub(crate) struct Mock {
    pub(crate) process: Child,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
    pub(crate) ready: Value,
    _program: Program,
}

/// Response as the client received it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Mock {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let program = Program::new()
            .file("policy.rego", POLICY)
            .file("data.json", r#"{"admins": ["ann"]}"#)
            .file("faults.yaml", FAULTS);
        let mut process = program
            .command(&[&["mock"], arguments].concat())
            .stdin(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the program starts");
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take().expect("its output"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        Self {
            process,
            input,
            output,
            ready,
            _program: program,
        }
    }

    /// Returns the address of a server of the mock, without the leading `http://`.
    pub(crate) fn address(&self, server: &str) -> &str {
        let url = self.ready.get(server).and_then(Value::as_str);
        let url = url.unwrap_or_else(|| panic!("no {server} in {}", self.ready));
        url.strip_prefix("http://").expect("an http address")
    }

    /// Sends a request on a new connection, and returns the connection.
    pub(crate) fn open(&self, server: &str, line: &str, headers: &str, body: &[u8]) -> TcpStream {
        let address = self.address(server);
        let mut stream = TcpStream::connect(address).expect("a connection");
        let head = format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
            body.len()
        );
        let bytes = [head.as_bytes(), body].concat();
        stream.write_all(&bytes).expect("the request is taken");
        stream
            .set_read_timeout(Some(HANG_LIMIT))
            .expect("a time limit");
        stream
    }

    pub(crate) fn send_with_headers(
        &self,
        server: &str,
        line: &str,
        headers: &str,
        body: &[u8],
    ) -> Answer {
        let mut bytes = Vec::new();
        let mut stream = self.open(server, line, headers, body);
        stream.read_to_end(&mut bytes).expect("a whole answer");
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        Answer {
            status: status.expect("a status"),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn send(&self, line: &str, body: &str) -> Answer {
        self.send_with_headers("engine", line, "", body.as_bytes())
    }

    pub(crate) fn admin(&self, line: &str, body: &str) -> Answer {
        self.send_with_headers("admin", line, "", body.as_bytes())
    }

    pub(crate) fn switch(&self, line: &str, body: &str) {
        let answer = self.admin(line, body);
        assert_eq!(answer.status, 204, "{line}: {answer:?}");
    }

    /// Returns the requests that the mock recorded, filtered by a query.
    pub(crate) fn requests(&self, query: &str) -> Vec<Value> {
        let answer = self.admin(&format!("GET /requests{query}"), "").json();
        let requests = answer.get("requests").and_then(Value::as_array);
        requests.cloned().unwrap_or_else(|| panic!("{answer}"))
    }

    /// Requests a decision for a user; all of these tests start the mock with this policy.
    pub(crate) fn decide(&self, user: &str, headers: &str) -> Answer {
        let body = json!({"input": {"user": user}}).to_string();
        let headers = format!("Content-Type: application/json\r\n{headers}");
        let line = "POST /v1/data/authz/allow";
        self.send_with_headers("engine", line, &headers, body.as_bytes())
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const FAULTS: &str = "
- fault: teapot
  breaks: Everybody is told 418.
  on: POST /v1/data/**
  reply: {status: 418, header: {X-Tea: green}, body: short and stout}
- fault: no-sources
  on: control GET /v1/sources
  answer:
    - empty: /result
";
