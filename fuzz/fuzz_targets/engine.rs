//! Any sequence of requests to an engine that keeps what they leave: each connection is answered
//! and closed, and nothing is an error of the server.

#![no_main]

use std::sync::LazyLock;

use fuzz::{Served, Table, connection};
use libfuzzer_sys::fuzz_target;
use rego_generate::Choices;

static ENGINE: LazyLock<Served> =
    LazyLock::new(|| Served::start(&["engine", "--log-level", "error"]));

const TABLE: Table = Table {
    paths: &[
        "/v1/data", "/v1/data/*", "/v1/data/*/*", "/v0/data/*", "/v1/policies", "/v1/policies/*",
        "/v1/query", "/v1/compile", "/v1/compile/*/*", "/v1/config", "/v1/status", "/health",
        "/health/*", "/metrics", "/", "/v1/*", "//*",
    ],
    bodies: &[
        "{}", "[]", "null", "{\"input\":{\"a\":[1,{}]}}", "{\"a\":{\"b\":[1,2,{\"c\":null}]}}",
        "package t\np := input.a\nq contains x if some x in data.a\n",
        "package t\nimport rego.v1\n# METADATA\n# scope: package\n# compile:\n#   unknowns: [input.x]\ninclude if input.x.y == data.a\n",
        "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":1}]", "[{\"op\":\"remove\",\"path\":\"/a\"}]",
        "[{\"op\":\"replace\",\"path\":\"\",\"value\":{}}]",
        "{\"query\":\"data.t.p = x\"}", "{\"query\":\"input.x > data.a\",\"unknowns\":[\"input\"]}",
        "{\"input\":{},\"options\":{\"targetSQLTableMappings\":{}}}", "input: &a [*a]\n", "input: {a: b}\n",
    ],
    credentials: &["", "Bearer x", "Basic eA=="],
};

fuzz_target!(|bytes: &[u8]| {
    let (chosen, rest) = bytes.split_at(bytes.len().min(48));
    let sent = connection(&mut Choices::new(chosen), rest, &TABLE);
    let answers = ENGINE.talk(&sent);
    let failed = b"HTTP/1.1 500".as_slice();
    // A decision that two rules contradict is an error that policies make.
    let conflict = b"eval_conflict_error".as_slice();
    let holds = |text: &[u8]| answers.windows(text.len()).any(|part| part == text);
    assert!(!holds(failed) || holds(conflict), "{}", String::from_utf8_lossy(&answers));
});
