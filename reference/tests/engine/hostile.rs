//! Malicious input: the response is clear and quick, and nothing is written partially.

#[path = "../../rego/tests/support/processor_time.rs"]
mod processor_time;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use reference::engine::Engine;

use crate::exchange::{format_reply, request, run_script_on};

/// Maximum factor between the costs of a body and of one ten times as long; linear growth has the
/// factor 10, quadratic growth 100.
const MOST: u32 = 30;

fn send(engine: &Engine, line: &str, body: Vec<u8>) -> String {
    let (method, target) = line.split_once(' ').unwrap_or_default();
    let mut headers = HeaderMap::new();
    let (target, yaml) = target
        .split_once(" yaml")
        .map_or((target, false), |(target, _)| (target, true));
    if yaml {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/yaml"));
    }
    format_reply(&engine.respond(request(method, target, headers, body)))
}

/// Asserts the response to a body of a size, and compares its cost with that of a body of a tenth
/// of the size. Each body has its own engine.
fn is_answered(line: &str, size: usize, body: impl Fn(usize) -> String, answer: &str) {
    let engines = [Engine::default(), Engine::default()];
    are_answered(&engines, line, size, body, answer);
}

/// Asserts like [`is_answered`], on two given engines: one for small bodies, one for large ones.
#[track_caller]
fn are_answered(
    [small, large]: &[Engine; 2],
    line: &str,
    size: usize,
    body: impl Fn(usize) -> String,
    answer: &str,
) {
    let [few, many] = [size / 10, size].map(|size| body(size).into_bytes());
    let start = String::from_utf8_lossy(many.get(..60).unwrap_or(&many)).into_owned();
    let costs = processor_time::compare(
        MOST,
        || drop(send(small, line, few.clone())),
        || {
            let answered = send(large, line, many.clone());
            assert!(answered.starts_with(answer), "{line} {start}: {answered}");
        },
    );
    assert_eq!(costs, Ok(()), "{line} {start}");
}

#[test]
fn nesting_has_a_limit() {
    let engine = Engine::default();
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth)).into_bytes();
    assert_eq!(send(&engine, "PUT /v1/data/a", nested(512)), "204");
    let refused = "400 invalid_parameter";
    assert_eq!(send(&engine, "PUT /v1/data/b", nested(513)), refused);
    is_answered("PUT /v1/data/b", 10 << 20, |n| "[".repeat(n), refused);
    let objects = |n: usize| r#"{"a":"#.repeat(n);
    is_answered("POST /v1/data/b", 1_000_000, objects, refused);
    for line in ["POST /v1/data/b yaml", "POST /v0/data/b yaml"] {
        is_answered(line, 1 << 16, |n| "[".repeat(n), refused);
        is_answered(line, 1 << 16, |n| "{".repeat(n), refused);
        is_answered(line, 1 << 20, objects, refused);
        is_answered(line, 1 << 16, |n| "- ".repeat(n), refused);
    }
}

#[test]
fn paths_have_a_limit() {
    let engine = Engine::default();
    let path = |depth: usize| "/x".repeat(depth);
    let deepest = format!("{}{}", "[".repeat(512), "]".repeat(512));
    let line = format!("PUT /v1/data{}", path(512));
    assert_eq!(send(&engine, &line, deepest.into_bytes()), "204");
    let line = format!("PUT /v1/data{}", path(513));
    assert_eq!(send(&engine, &line, b"1".to_vec()), "400 invalid_parameter");
    // A body with deeper nesting is undefined, as in Open Policy Agent.
    for depth in [513, 10_000] {
        let deep = engine.respond(request(
            "GET",
            &format!("/v1/data{}", path(depth)),
            HeaderMap::new(),
            Vec::new(),
        ));
        assert_eq!(deep.status.as_u16(), 200, "{depth}");
    }
    let operation = |n: usize| format!(r#"[{{"op":"add","path":"{}","value":1}}]"#, path(n));
    is_answered("PATCH /v1/data", 30_000, operation, "400 invalid_parameter");
    let reply = engine.respond(request(
        "GET",
        "/v1/data?pretty",
        HeaderMap::new(),
        Vec::new(),
    ));
    assert_eq!(reply.status.as_u16(), 200);
}

#[test]
fn repeated_anchors_do_not_grow() {
    let engine = Engine::default();
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let items = vec![before; 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    assert_eq!(
        send(&engine, "POST /v1/data/b yaml", bomb.into_bytes()),
        "400 invalid_parameter"
    );
    // YAML aliases are refused before they use much memory.
    let long = |n: usize| format!("a: &a {}\nb: [{}]", "x".repeat(n), "*a, ".repeat(n / 10));
    is_answered(
        "POST /v1/data/b yaml",
        100_000,
        long,
        "400 invalid_parameter",
    );
    let own = b"a: &a [*a]\n".to_vec();
    assert_eq!(
        send(&engine, "POST /v1/data/b yaml", own),
        "400 invalid_parameter"
    );
}

#[test]
fn directives_and_long_texts_are_refused() {
    let directives = |n: usize| -> String {
        let each = (0..n).map(|at| format!("# x\n%TAG !a{at}! x\n"));
        each.collect()
    };
    let line = "POST /v1/data/b yaml";
    is_answered(line, 100_000, directives, "400 invalid_parameter");
    is_answered(
        line,
        (16 << 20) + 1,
        |n| "#".repeat(n),
        "400 invalid_parameter",
    );
}

#[test]
fn nothing_may_follow_a_body() {
    run_script_on(
        &Engine::default(),
        r#"
        PUT /v1/data/j {}x => 400 invalid_parameter
        PUT /v1/data/j {} {} => 400 invalid_parameter
        PATCH /v1/data [] [] => 400 invalid_parameter
        POST /v1/data/j {"input":{"x":true}}{"input":{"x":false}} => 400 invalid_parameter
        POST /v0/data/j {} x => 400 invalid_parameter
        POST / {} x => 400 invalid_parameter
        POST /v1/query {"query":"true"}x => 400 invalid_parameter
        POST /v1/compile {"query":"true"}x => 400 invalid_parameter
        POST /v1/compile/a/b [Accept: application/vnd.engine.sql.sqlite+json] {}x => 400 invalid_parameter
        GET /v1/data/j => 200 {}
        "#,
    );
}

#[test]
fn odd_bytes_are_answered() {
    let engine = Engine::default();
    for body in [
        &b"\xff\xfe"[..],
        b"\"\xff\"",
        b"\"\xed\xa0\x80\"",
        b"\xef\xbb\xbf{}",
        b"\0",
        b"\"\0\"",
        b"\"\\u12\"",
        b"\"\\x\"",
        b"\"",
        b"-",
        b"1.",
        b"1e",
        b"+1",
        b".5",
        b"nul",
        b"truth",
        b"{\"a\"}",
        b"{\"a\":}",
        b"{a:1}",
        b"[1,]",
        b"{\"a\":1,}",
        b"[1 2]",
        b"'a'",
        b"",
        b" ",
        b"\"\\u{e9}\"",
        "\"\\u12\u{e9}4\"".as_bytes(),
    ] {
        assert_eq!(
            send(&engine, "PUT /v1/data/a", body.to_vec()),
            "400 invalid_parameter",
            "{body:?}"
        );
        for line in [
            "POST /v1/data/a",
            "POST /v1/data/a yaml",
            "PATCH /v1/data/a",
            "POST /",
            "POST /v0/data/a",
        ] {
            let status = send(&engine, line, body.to_vec());
            let fine = ["200", "400", "404"]
                .iter()
                .any(|fine| status.starts_with(fine));
            assert!(fine, "{line} {body:?}: {status}");
        }
    }
    assert_eq!(
        send(
            &engine,
            "PUT /v1/data/a",
            br#""\ud800 \ud83d\ude00 \udc00\ud800A""#.to_vec()
        ),
        "204"
    );
    run_script_on(
        &engine,
        "GET /v1/data/a => 200 {\"result\":\"\u{fffd} \u{1f600} \u{fffd}\u{fffd}A\"}",
    );
    let digits = "9".repeat(1 << 20);
    let engines = [Engine::default(), engine];
    are_answered(
        &engines,
        "PUT /v1/data/a",
        1 << 20,
        |n| "9".repeat(n),
        "204",
    );
    let [_, engine] = engines;
    run_script_on(
        &engine,
        &format!("GET /v1/data/a => 200 {{\"result\":{digits}}}"),
    );
}

#[test]
fn wide_documents_take_linear_time() {
    let document = |n: usize| {
        let members: Vec<String> = (0..n).map(|at| format!("\"m{at}\":[{at}]")).collect();
        format!("{{{}}}", members.join(","))
    };
    let patch = |n: usize| {
        let operations = (0..n).map(|at| format!(r#"{{"op":"add","path":"/n{at}","value":{at}}}"#));
        format!("[{}]", operations.collect::<Vec<_>>().join(","))
    };
    let engines = [Engine::default(), Engine::default()];
    // Short bodies are handled by other code.
    are_answered(&engines, "PUT /v1/data/a", 200_000, document, "204");
    are_answered(&engines, "POST /v1/data/a yaml", 50_000, document, "200");
    are_answered(&engines, "PATCH /v1/data/a", 50_000, patch, "204");
}
