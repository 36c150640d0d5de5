//! Compares the logs of the engine and of OPA for the same requests: keys of lines, and types of
//! values.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use crate::cargo::cargo;
use crate::command::complete;
use crate::release_build::PACKAGES;
use crate::servers::{Client, HANG_LIMIT, Server};
use crate::{real_opa, report, root};

const POLICY: &str = r#"package p

allow if input.user == "alice"
now := time.now_ns()
conflict := 1 if input.x
conflict := 2 if input.x
include if input.fruits.colour in input.favourites
loud if print("loud")
"#;

const LOG: &str = r#"package system.log

mask contains "/input/password"
mask contains {"op": "upsert", "path": "/input/name", "value": "***"}
"#;

const CONFIG: &str = r#"{
  "decision_logs": {"console": true},
  "status": {"console": true},
  "nd_builtin_cache": true,
  "labels": {"region": "west"}
}"#;

/// Requests that both servers get: method, path, `Accept` header, body.
const REQUESTS: &[(&str, &str, &str, &str)] = &[
    ("GET", "/v1/data/p/allow", "*/*", ""),
    (
        "GET",
        "/v1/data/p/allow?input=%7B%22user%22:%22alice%22%7D",
        "*/*",
        "",
    ),
    (
        "POST",
        "/v1/data/p/allow",
        "*/*",
        r#"{"input": {"user": "alice"}}"#,
    ),
    (
        "POST",
        "/v1/data/p/allow",
        "*/*",
        r#"{"input": {"password": "x", "name": "n"}}"#,
    ),
    ("POST", "/v1/data/p/none", "*/*", r#"{"input": [1]}"#),
    ("POST", "/v1/data/p/now?metrics&instrument", "*/*", "{}"),
    (
        "POST",
        "/v1/data/p/conflict",
        "*/*",
        r#"{"input": {"x": 1}}"#,
    ),
    ("POST", "/v1/data/p/loud", "*/*", r#"{"input": 1}"#),
    ("GET", "/v1/data", "*/*", ""),
    ("POST", "/v0/data/p/allow", "*/*", r#"{"user": "alice"}"#),
    ("POST", "/", "*/*", r#"{"user": "alice"}"#),
    ("GET", "/v1/query?q=x=data.p.now", "*/*", ""),
    (
        "POST",
        "/v1/query",
        "*/*",
        r#"{"query": "x = input.a", "input": {"a": 1}}"#,
    ),
    ("POST", "/v1/query", "*/*", r#"{"query": "x = 1;;"}"#),
    (
        "POST",
        "/v1/compile",
        "*/*",
        r#"{"query": "data.p.include", "unknowns": ["input.fruits"]}"#,
    ),
    (
        "POST",
        "/v1/compile/p/include",
        "application/vnd.opa.sql.postgresql+json",
        r#"{"input": {"favourites": ["red"]}, "unknowns": ["input.fruits"]}"#,
    ),
    ("PUT", "/v1/data/x", "*/*", "1"),
    ("GET", "/health", "*/*", ""),
    ("GET", "/v1/nowhere", "*/*", ""),
];

/// Messages of the log lines that are compared.
const MESSAGES: &[&str] = &[
    "Initializing server.",
    "Received request.",
    "Sent response.",
    "Decision Log",
    "loud",
    "Status Log",
];

/// Starts both servers, sends them the same requests, and compares their logs.
///
/// # Errors
/// When a server does not start, or the logs differ; reports every difference.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let opa = real_opa::build()?;
    complete(cargo().current_dir(root()).arg("build").args(PACKAGES))?;
    let reference = root().join("target/debug/reference");
    let mut differences = Vec::new();
    for format in ["json", "json-pretty"] {
        let theirs = logged(&opa, &["run", "--server", "--skip-version-check"], format)?;
        let ours = logged(&reference, &["engine"], format)?;
        differences.extend(
            compare(&theirs, &ours)
                .into_iter()
                .map(|it| format!("{format}: {it}")),
        );
    }
    for difference in &differences {
        report("differs", difference);
    }
    match differences.len() {
        0 => {
            report(
                "alike",
                &format!("the lines about {} requests", REQUESTS.len()),
            );
            Ok(())
        }
        count => Err(format!("{count} lines differ").into()),
    }
}

/// Starts a server and sends it all requests; returns the events that it logs.
fn logged(program: &Path, command: &[&str], format: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut paths = Vec::new();
    for (name, text) in [
        ("p.rego", POLICY),
        ("log.rego", LOG),
        ("config.json", CONFIG),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text)?;
        paths.push(path.to_string_lossy().into_owned());
    }
    let [policy, log, config] = paths.as_slice() else {
        return Err("no files".into());
    };
    let mut arguments = command.to_vec();
    arguments.extend(["--log-level", "info", "--log-format", format]);
    arguments.extend(["--config-file", config, policy, log]);
    let server = Server::start(program, &arguments, folder.path())?;
    for (method, path, accept, body) in REQUESTS {
        let mut client = server.client()?;
        client.exchange(&Client::request_of(method, path, accept, body))?;
    }
    let file = folder.path().join(format!("{}.log", server.address.port()));
    let start = Instant::now();
    loop {
        let events = events(&fs::read_to_string(&file)?);
        let of = |message: &str| {
            events
                .iter()
                .filter(|event| event["msg"] == message)
                .count()
        };
        let answered =
            |event: &&Value| event["msg"] == "Sent response." && event["req_path"] == "/v1/nowhere";
        if of("Status Log") > 0 && events.iter().any(|event| answered(&event)) {
            return Ok(events);
        }
        if start.elapsed() > HANG_LIMIT {
            return Err(format!("{} does not say enough", program.display()).into());
        }
        std::thread::yield_now();
    }
}

/// Parses the complete events of a log.
fn events(log: &str) -> Vec<Value> {
    let events = serde_json::Deserializer::from_str(log).into_iter::<Value>();
    events.map_while(Result::ok).collect()
}

/// Types of the members of each line, in order of the requests.
type Shapes = Vec<BTreeMap<String, &'static str>>;

fn compare(theirs: &[Value], ours: &[Value]) -> Vec<String> {
    let mut differences = Vec::new();
    for message in MESSAGES {
        let [their, our] = [theirs, ours].map(|events| shapes(events, message));
        if *message != "Status Log" && their.len() != our.len() {
            differences.push(format!(
                "{message}: {} lines, ours {}",
                their.len(),
                our.len()
            ));
        }
        for (at, (their, our)) in their.iter().zip(&our).enumerate() {
            let keys: BTreeSet<&String> = their.keys().chain(our.keys()).collect();
            for key in keys {
                let [theirs, ours] =
                    [their, our].map(|shape| shape.get(key).copied().unwrap_or("absent"));
                // OPA reports this member only after an upload.
                let later = *message == "Status Log" && key.as_str() == "decision_logs";
                if theirs != ours && !later {
                    differences.push(format!("{message} {at}: `{key}` is {theirs}, ours {ours}"));
                }
            }
        }
    }
    differences
}

/// Returns the keys and types of the lines with this message, in order of the requests. Ignores
/// `fields.time`: OPA's first lines have it only because they are buffered until its log is set up.
/// Ignores health requests before the first request of the table.
fn shapes(events: &[Value], message: &str) -> Shapes {
    let mut events: Vec<&Value> = events
        .iter()
        .filter(|event| event["msg"] == message)
        .collect();
    if message == "Status Log" {
        events.drain(..events.len().saturating_sub(1));
    } else if !matches!(message, "Initializing server." | "loud") {
        // Lines of different requests may be logged in another order than that of the requests.
        events.sort_by_key(|event| event["req_id"].as_u64());
        let health = |event: &&Value| event["req_path"] == "/health";
        let waits = events.iter().take_while(|event| health(event)).count();
        events.drain(..waits);
    }
    let shape = |event: &&Value| {
        let members = event.as_object().into_iter().flatten();
        let members = members.filter(|(key, _)| *key != "fields.time");
        let typed = members.map(|(key, value)| {
            let kind = match value {
                Value::Null => "null",
                Value::Bool(_) => "a boolean",
                Value::Number(_) => "a number",
                Value::String(_) => "a string",
                Value::Array(_) => "an array",
                Value::Object(_) => "an object",
            };
            (key.clone(), kind)
        });
        typed.collect()
    };
    events.iter().map(shape).collect()
}
