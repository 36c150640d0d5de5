//! Requests as the host sends them.

use std::time::{Duration, Instant};

use super::{SERVER, Script, Shared, member};
use crate::builtins::Failure;

/// Formats the headers of the last request, except the default user agent.
fn headers(host: &Script) -> String {
    let request = host.last();
    let headers = request.headers.iter();
    let mut headers: Vec<String> = headers
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap_or_default()))
        .filter(|header| !header.starts_with("user-agent: rego/"))
        .collect();
    headers.sort();
    headers.join(", ")
}

#[test]
fn requests_are_sent_as_they_are_described() {
    for (request, expected) in [
        (r#""url":"HOST""#, "GET http://server.test/ None"),
        (
            r#""method":"post","url":"HOST/a?b""#,
            "POST http://server.test/a?b Some(\"\")",
        ),
        (
            r#""method":"post","url":"HOST","body":{"a":1}"#,
            r#"POST http://server.test/ Some("{\"a\":1}")"#,
        ),
        (
            r#""method":"put","url":"HOST","raw_body":"ab","body":1"#,
            r#"PUT http://server.test/ Some("ab")"#,
        ),
        (
            r#""url":"unix://localhost/a/b?socket=%2Ftmp%2Fs&c=d""#,
            "GET http://localhost/a/b?c=d None at /tmp/s",
        ),
    ] {
        let shared = Shared::default();
        let method = if request.contains("\"method\"") {
            ""
        } else {
            "\"method\":\"get\","
        };
        let sent = shared.send(&format!("{{{method}{request}}}"));
        assert!(sent.is_ok(), "{request}: {sent:?}");
        let sent = shared.host.last();
        let body = sent
            .body
            .map(|body| String::from_utf8_lossy(&body).into_owned());
        let socket = sent.socket.map(|path| format!(" at {path}"));
        let socket = socket.unwrap_or_default();
        let found = format!("{} {} {body:?}{socket}", sent.method, sent.url);
        assert_eq!(found, expected, "{request}");
        assert_eq!(sent.tls, None, "{request}");
    }
}

#[test]
fn descriptions_that_do_not_do_are_refused() {
    let table = [
        (r#""method":1,"url":"HOST""#, "\"method\" must be a string"),
        (
            r#""method":"g t","url":"HOST""#,
            "net/http: invalid method \"G T\"",
        ),
        (
            r#""method":"get","url":"ftp://x""#,
            "Get \"ftp://x\": unsupported protocol scheme \"ftp\"",
        ),
        (
            r#""method":"get","url":"HOST","timeout":"x""#,
            "invalid timeout value \"x\": time: invalid duration \"x\"",
        ),
        (
            r#""method":"get","url":"HOST","headers":{"a":1}"#,
            "invalid type for headers value \"1\"",
        ),
        (
            r#""method":"get","url":"HOST","headers":{"a b":"c"}"#,
            "Get \"HOST\": net/http: invalid header field name \"a b\"",
        ),
    ];
    for (request, expected) in table {
        let shared = Shared::default();
        let failure = shared.send(&format!("{{{request}}}")).expect_err(request);
        let expected = Failure::Value(expected.replace("HOST", SERVER));
        assert_eq!(failure, expected, "{request}");
        assert_eq!(shared.host.requests().len(), 0, "{request}");
    }
}

#[test]
fn requests_have_the_time_that_they_ask_for() {
    for (timeout, expected) in [
        ("", Some(Duration::from_secs(5))),
        (r#","timeout":"1m30s""#, Some(Duration::from_secs(90))),
        (r#","timeout":50000000"#, Some(Duration::from_millis(50))),
        (r#","timeout":0"#, None),
    ] {
        let shared = Shared::default();
        let request = format!(r#"{{"method":"get","url":"HOST"{timeout}}}"#);
        let begun = Instant::now();
        shared.send(&request).expect("an answer");
        let elapsed = begun.elapsed();
        let remaining = shared.host.last().timeout;
        assert_eq!(remaining.is_some(), expected.is_some(), "{timeout}");
        // Time that passed before the request was sent is deducted from its timeout.
        let missing = expected
            .zip(remaining)
            .map(|(expected, remaining)| expected - remaining);
        assert!(missing.is_none_or(|time| time <= elapsed), "{missing:?}");
    }
}

#[test]
fn users_in_addresses_prove_who_they_are() {
    for (request, sent) in [
        (
            r#""url":"http://us%3aer:p%40ss@server.test/json""#,
            "authorization: Basic dXM6ZXI6cEBzcw==",
        ),
        (
            r#""url":"http://user@server.test/json""#,
            "authorization: Basic dXNlcjo=",
        ),
        (
            r#""url":"http://user:pass@server.test/json","headers":{"Authorization":"own"}"#,
            "authorization: own",
        ),
        (r#""url":"http://@server.test/json""#, ""),
    ] {
        let shared = Shared::default();
        let request = format!(r#"{{"method":"get","enable_redirect":true,{request}}}"#);
        shared.send(&request).expect("an answer");
        let last = shared.host.last();
        assert_eq!(last.url.as_str(), "http://server.test/json", "{request}");
        let sent = format!("accept-encoding: gzip, {sent}");
        assert_eq!(
            headers(&shared.host),
            sent.trim_end_matches(", "),
            "{request}"
        );
    }
}

#[test]
fn redirections_are_followed_without_what_is_for_the_first_host() {
    let secrets = r#""headers":{"authorization":"a","cookie":"b","x":"c","host":"d"}"#;
    for (path, method, sent) in [
        (
            "redirect",
            "post",
            "GET http://server.test/json accept-encoding: gzip, authorization: a, cookie: b, referer: http://server.test/redirect, x: c",
        ),
        (
            "away",
            "post",
            "POST http://else.test/json accept-encoding: gzip, content-length: 0, referer: http://server.test/away, x: c",
        ),
    ] {
        let shared = Shared::default();
        let request = format!(
            r#"{{"method":"{method}","url":"HOST/{path}","enable_redirect":true,{secrets}}}"#
        );
        shared.send(&request).expect("an answer");
        let last = shared.host.last();
        let found = format!("{} {} {}", last.method, last.url, headers(&shared.host));
        assert_eq!(found, sent, "{path}");
    }
}

#[test]
fn failed_requests_are_sent_again_as_often_as_asked() {
    for (attempts, code, pauses) in [
        (0, "0", &[][..]),
        (1, "0", &[100]),
        (2, "200", &[100, 200]),
        (3, "200", &[100, 200]),
    ] {
        let shared = Shared::default();
        let request = format!(
            r#"{{"method":"get","url":"HOST/third","raise_error":false,"max_retry_attempts":{attempts}}}"#
        );
        let answer = shared.send(&request).expect("an answer");
        assert_eq!(member(&answer, "status_code"), code, "{attempts}: {answer}");
        let pauses: Vec<Duration> = pauses.iter().copied().map(Duration::from_millis).collect();
        let paused = shared.host.pauses.lock().expect("the pauses");
        assert_eq!(*paused, pauses, "{attempts}");
    }
}
