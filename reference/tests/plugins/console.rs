//! Log lines, which other programs parse: keys and types are those of Open Policy Agent 1.22.

use std::collections::BTreeMap;
use std::io::Write;

use reqwest::Method;
use serde_json::{Value, json};

use crate::environment::{Done, Environment, quick, until};
use crate::mock_services::{Fixture, bundle};
use crate::started::Started;

const POLICY: &str = r#"
package p

allow if input.user == "alice"
now := time.now_ns()
conflict := 1 if input.x
conflict := 2 if input.x
include if input.fruits.colour in input.favourites
loud if print("loud", input.user)
"#;

const LOG: &str = r#"
package system.log

mask contains "/input/password"
mask contains {"op": "upsert", "path": "/input/name", "value": "***"}
"#;

/// Request, with the keys and types that its decision has in addition to [`DECISION`].
struct Case {
    method: Method,
    path: &'static str,
    body: Value,
    shows: &'static [(&'static str, &'static str)],
}

fn case(
    method: Method,
    path: &'static str,
    body: Value,
    shows: &'static [(&'static str, &'static str)],
) -> Case {
    Case {
        method,
        path,
        body,
        shows,
    }
}

/// Keys and types of every decision, both on the console and in uploads.
const DECISION: &[(&str, &str)] = &[
    ("bundles", "object"),
    ("decision_id", "string"),
    ("labels", "object"),
    ("metrics", "object"),
    ("nd_builtin_cache", "object"),
    ("req_id", "number"),
    ("requested_by", "string"),
    ("timestamp", "string"),
];

/// Keys and types of every line on the console.
const LINE: &[(&str, &str)] = &[("level", "string"), ("msg", "string"), ("time", "string")];

const TYPE: &[(&str, &str)] = &[("type", "string")];

/// Keys and types of log lines about requests.
const REQUEST: &[(&str, &str)] = &[
    ("client_addr", "string"),
    ("req_id", "number"),
    ("req_method", "string"),
    ("req_path", "string"),
];

const RESPONSE: &[(&str, &str)] = &[
    ("resp_bytes", "number"),
    ("resp_duration", "number"),
    ("resp_status", "number"),
];

/// Keys and types of status reports.
const STATUS: &[(&str, &str)] = &[
    ("bundles", "object"),
    ("decision_logs", "object"),
    ("labels", "object"),
    ("metrics", "object"),
    ("plugins", "object"),
];

fn cases() -> Vec<Case> {
    let alice = json!({"user": "alice"});
    let secret = json!({"input": {"user": "alice", "name": "n", "password": "p"}});
    vec![
        case(
            Method::GET,
            "/v1/data/p/allow",
            Value::Null,
            &[("path", "string")],
        ),
        case(
            Method::POST,
            "/v1/data/p/allow",
            json!({"input": alice}),
            &[
                ("path", "string"),
                ("input", "object"),
                ("masked", "array"),
                ("result", "boolean"),
            ],
        ),
        case(
            Method::POST,
            "/v1/data/p/allow",
            secret,
            &[
                ("path", "string"),
                ("input", "object"),
                ("erased", "array"),
                ("masked", "array"),
                ("result", "boolean"),
            ],
        ),
        case(
            Method::POST,
            "/v1/data/p/none",
            json!({"input": [1]}),
            &[("path", "string"), ("input", "array")],
        ),
        case(
            Method::POST,
            "/v0/data/p/allow",
            alice,
            &[
                ("path", "string"),
                ("input", "object"),
                ("masked", "array"),
                ("result", "boolean"),
            ],
        ),
        case(
            Method::POST,
            "/v1/query",
            json!({"query": "x = data.p.now"}),
            &[("query", "string"), ("result", "array")],
        ),
        case(
            Method::GET,
            "/v1/data",
            Value::Null,
            &[("result", "object")],
        ),
        case(
            Method::POST,
            "/v1/compile/p/include",
            json!({"input": {"favourites": ["red"]}, "unknowns": ["input.fruits"]}),
            &[
                ("path", "string"),
                ("input", "object"),
                ("masked", "array"),
                ("result", "object"),
                ("custom", "object"),
            ],
        ),
        case(
            Method::POST,
            "/v1/data/p/conflict",
            json!({"input": {"x": 1}}),
            &[
                ("path", "string"),
                ("input", "object"),
                ("masked", "array"),
                ("error", ""),
            ],
        ),
    ]
}

/// Returns the type of each value in an object, by key.
fn shape(event: &Value) -> BTreeMap<&str, &'static str> {
    let members = event.as_object().into_iter().flatten();
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    members
        .map(|(key, value)| (key.as_str(), kind(value)))
        .collect()
}

/// Merges tables of keys and types.
fn expected(tables: &[&[(&'static str, &'static str)]]) -> BTreeMap<&'static str, &'static str> {
    tables
        .iter()
        .flat_map(|table| table.iter().copied())
        .collect()
}

/// Starts an engine that logs to the console and to a service; returns it with its address.
async fn logging(environment: &Environment) -> Done<(Started, std::net::SocketAddr)> {
    let manifest = r#"{"revision": "r1", "roots": ["rules"]}"#;
    let files = [(".manifest", manifest), ("rules/data.json", "{}")];
    let archive = bundle(&files)?;
    environment
        .mock
        .put("/bundles/rules", Fixture::of(archive, "1"));
    let config = environment.configure(json!({
        "bundles": {"rules": {"polling": quick()}},
        "decision_logs": {"console": true, "service": "depot", "reporting": quick()},
        "status": {"console": true, "service": "depot"},
        "nd_builtin_cache": true,
        "labels": {"region": "west"},
    }))?;
    let mut paths = Vec::new();
    for (name, text) in [("p.rego", POLICY), ("log.rego", LOG)] {
        let path = environment.folder.path().join(name);
        std::fs::File::create(&path)?.write_all(text.as_bytes())?;
        paths.push(path.to_string_lossy().into_owned());
    }
    let config = config.to_string_lossy().into_owned();
    let args = [
        "--addr",
        "127.0.0.1:0",
        "--ready-timeout",
        "3600",
        "--config-file",
        &config,
    ];
    let args = args.map(str::to_owned).into_iter().chain(paths);
    let mut engine = Started::engine(args)?;
    let address = engine.address("the engine is listening")?;
    Ok((engine, address))
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_and_reports_have_the_shape_of_opa() -> Done {
    let environment = Environment::new().await?;
    let (engine, address) = logging(&environment).await?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let cases = cases();
    for case in &cases {
        let url = format!("http://{address}{}", case.path);
        let mut request = client.request(case.method.clone(), url);
        if case.path.starts_with("/v1/compile/") {
            request = request.header("accept", "application/vnd.opa.sql.postgresql+json");
        }
        if !case.body.is_null() {
            request = request.body(case.body.to_string());
        }
        request.send().await?.bytes().await?;
    }
    let logged = until("all decisions", || {
        let lines = engine.events("Decision Log");
        (lines.len() == cases.len()).then_some(lines)
    })
    .await?;
    let sent = until("all decisions, sent", || {
        let uploads = environment.mock.seen("/logs").into_iter();
        let events = uploads.flat_map(|upload| upload.body.as_array().cloned().unwrap_or_default());
        let events: Vec<Value> = events.collect();
        (events.len() == cases.len()).then_some(events)
    })
    .await?;
    for ((case, line), event) in cases.iter().zip(&logged).zip(&sent) {
        let named = format!("{} {}: {line}", case.method, case.path);
        let mut lines = expected(&[DECISION, LINE, TYPE, case.shows]);
        let mut events = expected(&[DECISION, case.shows]);
        // The only difference between console and upload: a string instead of an error object.
        if lines.contains_key("error") {
            lines.insert("error", "string");
            events.insert("error", "object");
        }
        assert_eq!(shape(line), lines, "{named}");
        assert_eq!(shape(event), events, "{named}");
        assert_eq!(line["type"], "openpolicyagent.org/decision_logs", "{named}");
        assert_eq!(line["level"], "info", "{named}");
        for (key, value) in event.as_object().into_iter().flatten() {
            assert!(key == "error" || line[key] == *value, "{key} in {named}");
        }
    }
    assert_eq!(logged[2]["erased"], json!(["/input/password"]));
    assert_eq!(logged[2]["input"], json!({"name": "***", "user": "alice"}));
    let filter = &logged[7]["custom"];
    assert_eq!(filter["type"], "open-policy-agent/compile");
    assert_eq!(filter["unknowns"], json!(["input.fruits"]));
    let error = logged[8]["error"].as_str().unwrap_or_default();
    assert!(
        error.contains("p.rego:") && error.contains(": eval_conflict_error: "),
        "{error}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn other_lines_have_the_shape_of_opa() -> Done {
    let environment = Environment::new().await?;
    let (engine, address) = logging(&environment).await?;
    let client = reqwest::Client::builder().no_proxy().build()?;
    let url = format!("http://{address}/v1/data/p/loud");
    let body = json!({"input": {"user": "bob"}});
    client
        .post(&url)
        .body(body.to_string())
        .send()
        .await?
        .bytes()
        .await?;
    let begins: &[(&str, &str)] = &[("addrs", "array"), ("diagnostic-addrs", "array")];
    let prints: &[(&str, &str)] = &[("line", "string")];
    for (message, tables) in [
        ("Initializing server.", vec![LINE, begins]),
        ("Received request.", vec![LINE, REQUEST]),
        ("Sent response.", vec![LINE, REQUEST, RESPONSE]),
        ("loud bob", vec![LINE, REQUEST, prints]),
        ("Status Log", vec![LINE, TYPE, STATUS]),
    ] {
        let line = until(message, || engine.events(message).pop()).await?;
        assert_eq!(shape(&line), expected(&tables), "{line}");
        assert_eq!(line["level"], "info", "{line}");
    }
    let status = engine.events("Status Log").pop().unwrap_or_default();
    assert_eq!(status["type"], "openpolicyagent.org/status");
    let report = until("a report", || environment.mock.seen("/status").pop()).await?;
    assert_eq!(shape(&report.body), expected(&[STATUS]));
    let decision = engine.events("Decision Log").pop().unwrap_or_default();
    let answer = engine.events("Sent response.").pop().unwrap_or_default();
    assert_eq!(decision["req_id"], answer["req_id"]);
    Ok(())
}
