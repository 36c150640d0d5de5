//! Data filters of an engine with configured column types.

use std::fs;

use http::header::{ACCEPT, HeaderMap, HeaderValue};
use reference::engine::{Engine, Options};
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::exchange::{engine, request};

const POLICY: &str = r#"
package app

include if {
    input.fruits.colour == "red"
    input.fruits.weight == 3
}
"#;

/// Returns options of an engine with a policy and a file of column types.
fn knowing(folder: &TempDir, text: &str) -> Options {
    let file = folder.path().join("columns.yaml");
    assert!(fs::write(&file, text).is_ok());
    Options {
        sql_column_types: Some(file),
        ..Options::default()
    }
}

fn folder() -> TempDir {
    TempDir::new().unwrap_or_else(|error| panic!("no folder: {error}"))
}

/// Returns the SQL condition in a dialect; the request also contains column types.
fn filter(engine: &Engine, dialect: &str, types: &Value) -> Value {
    let policy = POLICY.as_bytes().to_vec();
    let reply = engine.respond(request("PUT", "/v1/policies/app", HeaderMap::new(), policy));
    assert_eq!(reply.status.as_u16(), 200);
    let body = json!({"unknowns": ["input.fruits"], "options": {"targetSQLColumnTypes": types}});
    let accept = format!("application/vnd.opa.sql.{dialect}+json");
    let accept = HeaderValue::from_str(&accept).unwrap_or_else(|error| panic!("{error}"));
    let headers = HeaderMap::from_iter([(ACCEPT, accept)]);
    let body = body.to_string().into_bytes();
    let reply = engine.respond(request("POST", "/v1/compile/app/include", headers, body));
    let answer: Value = serde_json::from_slice(&reply.body.bytes()).unwrap_or_default();
    answer["result"]["query"].clone()
}

const BOTH: &str = "WHERE (fruits.colour = 'red' AND fruits.weight = 3)";

#[rstest]
#[case::file("fruits: {colour: string, weight: number}", Value::Null)]
#[case::file_and_request("fruits: {colour: string}", json!({"fruits": {"weight": "number"}}))]
// Column types in the request take precedence, even if they are for one dialect only.
#[case::request_for_one_dialect(
    "fruits: {colour: number, weight: number}",
    json!({"mysql": {"fruits": {"colour": "string"}}})
)]
#[case::file_for_one_dialect(
    r#"{"mysql": {"fruits": {"colour": "string", "weight": "number"}}}"#,
    Value::Null
)]
fn columns_that_are_known_are_compared_plainly(#[case] text: &str, #[case] types: Value) {
    let folder = folder();
    let engine = engine(knowing(&folder, text));
    assert_eq!(filter(&engine, "mysql", &types), BOTH);
}

#[test]
fn columns_of_another_dialect_are_not_known() {
    let folder = folder();
    let engine = engine(knowing(&folder, "mysql: {fruits: {colour: string}}"));
    assert_ne!(filter(&engine, "sqlite", &Value::Null), BOTH);
}

#[rstest]
#[case::unknown_type("fruits: {colour: text}")]
#[case::list("[fruits]")]
#[case::number("fruits: {colour: 3}")]
#[case::broken("{")]
fn a_file_that_tells_no_types_is_refused(#[case] text: &str) {
    let folder = folder();
    let opened = Engine::open(&knowing(&folder, text));
    let reason = opened
        .err()
        .map(|reason| reason.to_string())
        .unwrap_or_default();
    assert!(reason.starts_with("column types `"), "{text}: {reason}");
}

#[test]
fn a_missing_file_of_types_is_refused() {
    let folder = folder();
    let missing = Options {
        sql_column_types: Some(folder.path().join("none.json")),
        ..Options::default()
    };
    assert!(Engine::open(&missing).is_err());
}

/// Strings in databases are UTF-8, so a filter cannot contain other bytes.
#[rstest]
#[case::equal_to(r#"input.fruits.colour == hex.decode("ff")"#)]
#[case::member_of(r#"input.fruits.colour in ["red", hex.decode("ff")]"#)]
#[case::begin_of(r#"startswith(input.fruits.colour, hex.decode("ff"))"#)]
fn strings_that_are_not_utf8_are_refused(#[case] condition: &str) {
    let engine = engine(Options::default());
    let policy = format!("package app\n\ninclude if {condition}\n").into_bytes();
    let put = request("PUT", "/v1/policies/app", HeaderMap::new(), policy);
    assert_eq!(engine.respond(put).status.as_u16(), 200);
    let body = json!({"unknowns": ["input.fruits"]}).to_string();
    let accept = HeaderValue::from_static("application/vnd.opa.sql.postgresql+json");
    let headers = HeaderMap::from_iter([(ACCEPT, accept)]);
    let compile_request = request(
        "POST",
        "/v1/compile/app/include",
        headers,
        body.into_bytes(),
    );
    let reply = engine.respond(compile_request);
    let text = String::from_utf8_lossy(&reply.body.bytes()).into_owned();
    assert_eq!(reply.status.as_u16(), 400, "{condition}: {text}");
    assert!(text.contains("expected UTF-8"), "{condition}: {text}");
}
