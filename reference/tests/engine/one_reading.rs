//! The authorization policy and the handler interpret a body in the same way, whatever its content
//! type and the escapes in it.

use std::fs;

use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};
use reference::engine::{Engine, Options};
use serde_json::Value;

use crate::exchange::{engine, request};

/// Policy that refuses requests with a forbidden value, and reports the form of the body.
const AUTHORIZATION: &str = r#"package system.authz

default allow := true

allow := {"allowed": false, "reason": json.marshal(seen)} if input.headers["X-Refuse"]

seen := input.body.input if input.path[0] == "v1"

seen := input.body if not input.path[0] == "v1"
"#;

const ECHO: &str = "package p

seen := json.marshal(input)
";

const MAIN: &str = "package system

main := json.marshal(input)
";

/// Routes with request bodies, in which `INPUT` stands for the input document.
const ROUTES: &[(&str, &str)] = &[
    ("/v1/data/p/seen", r#"{"input": INPUT}"#),
    ("/v1/data/p/seen", "input: INPUT"),
    ("/v0/data/p/seen", "INPUT"),
    ("/", "INPUT"),
    (
        "/v1/query",
        r#"{"query": "x = json.marshal(input)", "input": INPUT}"#,
    ),
    (
        "/v1/query",
        r#"{"query": "x = json.marshal(input)", "<<": {"input": INPUT}, "input": {"t": "own"}}"#,
    ),
    (
        "/v1/query",
        r#"{"<<": {"input": INPUT}, "query": "x = json.marshal(input)"}"#,
    ),
    (
        "/v1/compile",
        r#"{"query": "x = json.marshal(input)", "unknowns": ["data.none"], "input": INPUT}"#,
    ),
];

const INPUTS: &[&str] = &[
    r#"{"t": "mine"}"#,
    r#"{"<<": {"t": "mine"}}"#,
    r#"{"\u003c<": {"t": "mine"}}"#,
    r#"{"t": "own", "<<": {"t": "mine"}}"#,
    r#"{'<<': {"t": "mine"}}"#,
    r#"{<<: {"t": "mine"}}"#,
    r#"{"t": 1, "t": 2}"#,
    r#"{"t": 1E400}"#,
    r#"{"t": 0.1000000000000000055}"#,
    r#"{"t": 18446744073709551617}"#,
    "{\"t\": \"ann\u{85}smith\"}",
    "{\"t\": \"ann\u{2028}smith\"}",
    "{\"t\": \"\\ud83d\\ude00\"}",
    "{\"t\": \"\u{feff}x\"}",
    r#"{"t": "a\/b"}"#,
    "{t: yes, u: 0x10, v: 1_000, w: ~, x: 1:30}",
    r#"{"t": &a [1], "u": *a}"#,
    "[1, 2]",
];

const TYPES: &[&str] = &["application/json", "application/yaml", "text/x-yaml", ""];

/// Returns every combination of an input and a content type.
fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let inputs = INPUTS.iter();
    inputs.flat_map(|input| TYPES.iter().map(|kind| (*input, *kind)))
}

fn guarded() -> Engine {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("no folder for the policies");
    };
    let files = [("authz", AUTHORIZATION), ("p", ECHO), ("main", MAIN)];
    let data = files.map(|(name, text)| {
        let path = folder.path().join(name).with_extension("rego");
        match fs::write(&path, text) {
            Ok(()) => path.display().to_string(),
            Err(failure) => panic!("the policy is not written: {failure}"),
        }
    });
    engine(Options {
        authorization: "basic".to_owned(),
        data: data.into(),
        ..Options::default()
    })
}

/// Returns the status and the body of a response.
fn send_request(
    engine: &Engine,
    target: &str,
    kind: &'static str,
    body: &str,
    refuse: bool,
) -> (u16, Value) {
    let mut headers = HeaderMap::new();
    if !kind.is_empty() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    if refuse {
        let name = HeaderName::from_static("x-refuse");
        headers.insert(name, HeaderValue::from_static("1"));
    }
    let reply = engine.respond(request("POST", target, headers, body.into()));
    let answer = serde_json::from_slice(&reply.body.bytes());
    (reply.status.as_u16(), answer.unwrap_or_default())
}

/// Returns true if a response contains a string as a value.
fn shows(answer: &Value, text: &str) -> bool {
    match answer {
        Value::String(found) => found == text,
        Value::Array(items) => items.iter().any(|item| shows(item, text)),
        Value::Object(members) => members.values().any(|member| shows(member, text)),
        _ => false,
    }
}

#[test]
fn the_handler_acts_on_the_body_that_the_policy_saw() {
    let engine = guarded();
    let mut compared = 0;
    for (target, form) in ROUTES {
        for (input, kind) in pairs() {
            let body = form.replace("INPUT", input);
            let (status, permitted) = send_request(&engine, target, kind, &body, false);
            let (_, refused) = send_request(&engine, target, kind, &body, true);
            let seen = refused["message"].as_str().unwrap_or_default();
            match status {
                200 if permitted == Value::Object(serde_json::Map::new()) => {}
                200 => {
                    compared += 1;
                    let where_at = format!("POST {target} ({kind}) {body}: {permitted}");
                    assert!(shows(&permitted, seen), "{where_at}, the policy saw {seen}");
                }
                _ => assert_eq!(status, 400, "POST {target} ({kind}) {body}: {permitted}"),
            }
        }
    }
    assert!(compared > 200, "only {compared} answers were compared");
}
