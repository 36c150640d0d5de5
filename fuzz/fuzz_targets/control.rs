//! Any sequence of requests to a control plane that keeps what they leave: each connection is
//! answered and closed, and nothing is an error of the server.

#![no_main]

use std::sync::LazyLock;

use fuzz::{Served, Table, connection};
use libfuzzer_sys::fuzz_target;
use rego_generate::Choices;
use tempfile::TempDir;

const TOKENS: &str = "tokens:
  a: {api_key: a, scopes: [{role: administrator}]}
  o: {api_key: o, scopes: [{role: owner}]}
  s: {api_key: s, scopes: [{role: stack_owner}]}
  v: {api_key: v, scopes: [{role: viewer}]}
";

static CONTROL: LazyLock<(TempDir, Served)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(place("tokens.yaml"), TOKENS).unwrap();
    let database = format!("sqlite:{}", place("control.db"));
    let tokens = place("tokens.yaml");
    let arguments = [
        "control", "--config", &tokens, "--database", &database, "--no-builder", "--log-level",
        "error",
    ];
    let served = Served::start(&arguments);
    (folder, served)
});

const TABLE: Table = Table {
    paths: &[
        "/v1/bundles", "/v1/bundles/*", "/v1/bundles/*/status", "/v1/bundles/*/status/latest",
        "/v1/sources", "/v1/sources/*", "/v1/sources/*/data", "/v1/sources/*/data/*",
        "/v1/sources/*/data/*/*", "/v1/stacks", "/v1/stacks/*", "/v1/secrets", "/v1/secrets/*",
        "/health", "/metrics", "/", "//*",
    ],
    bodies: &[
        "{}", "[]", "null", "{\"a\":[1,{}]}",
        "{\"object_storage\":{\"filesystem\":{\"path\":\"a\"}},\"requirements\":[{\"source\":\"a\"}]}",
        "{\"object_storage\":{\"aws\":{\"bucket\":\"b\",\"key\":\"k\",\"region\":\"r\",\"credentials\":\"a\"}}}",
        "{\"directory\":\"a\",\"paths\":[\"*\"],\"requirements\":[{\"source\":\"b\",\"path\":\"x\",\"prefix\":\"y\"}]}",
        "{\"git\":{\"repo\":\"https://h/x\",\"reference\":\"main\",\"credentials\":\"a\"}}",
        "{\"datasources\":[{\"name\":\"d\",\"path\":\"d\",\"type\":\"http\",\"config\":{\"url\":\"http://h\"}}]}",
        "{\"selector\":{\"a\":[\"*\"]},\"requirements\":[{\"source\":\"a\"}]}",
        "{\"value\":{\"type\":\"token_auth\",\"token\":\"t\"}}",
        "{\"labels\":{\"a\":\"b\"},\"excluded_files\":[\"*\"],\"rebuild_interval\":\"1s\"}",
    ],
    credentials: &["Bearer a", "Bearer o", "Bearer s", "Bearer v", "", "Bearer x", "Basic eA=="],
};

fuzz_target!(|bytes: &[u8]| {
    let (chosen, rest) = bytes.split_at(bytes.len().min(48));
    let sent = connection(&mut Choices::new(chosen), rest, &TABLE);
    let answers = CONTROL.1.talk(&sent);
    let failed = b"HTTP/1.1 50".as_slice();
    let failed = answers.windows(failed.len()).any(|part| part == failed);
    assert!(!failed, "{}", String::from_utf8_lossy(&answers));
});
