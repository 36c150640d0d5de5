//! Input that means harm: a clear answer, quickly, and nothing half-written.

use std::time::{Duration, Instant};

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use reference::engine::Engine;

use crate::exchange::{play_on, request, shown};

/// Much longer than any of these takes, much shorter than what grows faster than its input.
const QUICK: Duration = Duration::from_secs(20);

fn send(engine: &Engine, line: &str, body: Vec<u8>) -> String {
    let begun = Instant::now();
    let (method, target) = line.split_once(' ').unwrap_or_default();
    let mut headers = HeaderMap::new();
    let (target, yaml) = target
        .split_once(" yaml")
        .map_or((target, false), |(target, _)| (target, true));
    if yaml {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/yaml"));
    }
    let reply = engine.respond(request(method, target, headers, body));
    assert!(begun.elapsed() < QUICK, "{line} took {:?}", begun.elapsed());
    shown(&reply)
}

#[test]
fn nesting_has_a_limit() {
    let engine = Engine::default();
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth)).into_bytes();
    assert_eq!(send(&engine, "PUT /v1/data/a", nested(512)), "204");
    assert_eq!(
        send(&engine, "PUT /v1/data/b", nested(513)),
        "400 invalid_parameter"
    );
    assert_eq!(
        send(&engine, "PUT /v1/data/b", vec![b'['; 10 << 20]),
        "400 invalid_parameter"
    );
    let objects = r#"{"a":"#.repeat(1_000_000).into_bytes();
    assert_eq!(
        send(&engine, "POST /v1/data/b", objects),
        "400 invalid_parameter"
    );
    for line in ["POST /v1/data/b yaml", "POST /v0/data/b yaml"] {
        assert_eq!(
            send(&engine, line, vec![b'['; 1 << 16]),
            "400 invalid_parameter"
        );
        assert_eq!(
            send(&engine, line, vec![b'{'; 1 << 16]),
            "400 invalid_parameter"
        );
        assert_eq!(
            send(&engine, line, br#"{"a":"#.repeat(1 << 20)),
            "400 invalid_parameter"
        );
        assert_eq!(
            send(&engine, line, b"- ".repeat(1 << 16)),
            "400 invalid_parameter"
        );
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
    let operation = format!(r#"[{{"op":"add","path":"{}","value":1}}]"#, path(30_000));
    assert_eq!(
        send(&engine, "PATCH /v1/data", operation.into_bytes()),
        "400 invalid_parameter"
    );
    let whole = engine.respond(request(
        "GET",
        "/v1/data?pretty",
        HeaderMap::new(),
        Vec::new(),
    ));
    assert_eq!(whole.status.as_u16(), 200);
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
    let mut long = format!("a: &a {}\nb: [", "x".repeat(1 << 20));
    long.push_str(&"*a, ".repeat(10_000));
    long.push(']');
    assert_eq!(
        send(&engine, "POST /v1/data/b yaml", long.into_bytes()),
        "400 invalid_parameter"
    );
    let own = b"a: &a [*a]\n".to_vec();
    assert_eq!(
        send(&engine, "POST /v1/data/b yaml", own),
        "400 invalid_parameter"
    );
}

#[test]
fn directives_and_long_texts_are_refused() {
    let engine = Engine::default();
    let directives: String = (0..100_000)
        .map(|at| format!("# x\n%TAG !a{at}! x\n"))
        .collect();
    for text in [directives.into_bytes(), vec![b'#'; (16 << 20) + 1]] {
        let answer = send(&engine, "POST /v1/data/b yaml", text);
        assert_eq!(answer, "400 invalid_parameter");
    }
}

#[test]
fn nothing_may_follow_a_body() {
    play_on(
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
    play_on(
        &engine,
        "GET /v1/data/a => 200 {\"result\":\"\u{fffd} \u{1f600} \u{fffd}\u{fffd}A\"}",
    );
    let digits = "9".repeat(1 << 20);
    assert_eq!(
        send(&engine, "PUT /v1/data/a", digits.clone().into_bytes()),
        "204"
    );
    play_on(
        &engine,
        &format!("GET /v1/data/a => 200 {{\"result\":{digits}}}"),
    );
}

#[test]
fn wide_documents_take_linear_time() {
    let engine = Engine::default();
    let members: Vec<String> = (0..200_000).map(|at| format!("\"m{at}\":[{at}]")).collect();
    let document = format!("{{{}}}", members.join(","));
    assert_eq!(
        send(&engine, "PUT /v1/data/a", document.clone().into_bytes()),
        "204"
    );
    assert_eq!(
        send(&engine, "POST /v1/data/a yaml", document.into_bytes()).get(..3),
        Some("200")
    );
    let operations: Vec<String> = (0..100_000)
        .map(|at| format!(r#"{{"op":"add","path":"/n{at}","value":{at}}}"#))
        .collect();
    let patch = format!("[{}]", operations.join(","));
    assert_eq!(send(&engine, "PATCH /v1/data/a", patch.into_bytes()), "204");
}
