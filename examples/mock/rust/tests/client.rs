//! cargo test

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use mock_example::{is_allowed, send};
use serde_json::{Value, json};

/// A mock that ends with the test, whose end closes its input. Each test has its own.
struct Mock {
    process: Child,
    engine: String,
    admin: String,
}

impl Mock {
    fn start() -> Self {
        let program = std::env::var("CONFORMANCE").unwrap_or("conformance".into());
        let policies = concat!(env!("CARGO_MANIFEST_DIR"), "/../policies");
        let mut process = Command::new(program)
            .args(["mock", "--exit-on-stdin-close", policies])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.as_mut().unwrap());
        output.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let url = |server: &str| ready[server].as_str().unwrap().to_owned();
        Self {
            engine: url("engine"),
            admin: url("admin"),
            process,
        }
    }

    fn admin(&self, method: &str, path: &str) -> String {
        let (status, body) = send(&self.admin, method, path, "").unwrap();
        assert!(status < 300, "{method} {path}: {body}");
        body
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

#[test]
fn a_decision_is_asked_for_as_the_document_says() {
    let mock = Mock::start();
    assert!(is_allowed(&mock.engine, "ann").unwrap());
    let received: Value = serde_json::from_str(&mock.admin("GET", "/requests")).unwrap();
    let request = &received["requests"][0];
    assert_eq!(request["path"], "/v1/data/authz/allow");
    assert_eq!(request["json"], json!({"input": {"user": "ann"}}));
}

#[test]
fn undefined_is_no_permission() {
    let mock = Mock::start();
    assert!(!is_allowed(&mock.engine, "bob").unwrap());
    mock.admin("PUT", "/faults/undefined");
    assert!(!is_allowed(&mock.engine, "ann").unwrap());
}

#[test]
fn what_is_broken_is_an_error() {
    let mock = Mock::start();
    for fault in ["internal-error", "broken-json", "cut-body", "close", "hang"] {
        mock.admin("DELETE", "/faults");
        mock.admin("PUT", &format!("/faults/{fault}"));
        is_allowed(&mock.engine, "ann").expect_err(fault);
    }
}
