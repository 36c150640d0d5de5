//! Responses and errors as policies see them.

use std::sync::Arc;

use super::{SERVER, Shared, member, send};
use crate::builtins::http::options::MAX_BODY;
use crate::builtins::{BuiltinContext, Failure, Session};
use crate::host::HttpRequest;
use crate::meter::AbortReason;

#[test]
fn responses_are_shown() {
    let table = [
        (
            r#"{"method":"get","url":"HOST/json"}"#,
            "status",
            "\"200 OK\"",
        ),
        (
            r#"{"method":"get","url":"HOST/fine"}"#,
            "status",
            "\"200 Fine\"",
        ),
        (r#"{"method":"get","url":"HOST/fine"}"#, "body", "null"),
        (
            r#"{"method":"get","url":"HOST/fine"}"#,
            "raw_body",
            "\"plain\"",
        ),
        (
            r#"{"method":"get","url":"HOST/fine"}"#,
            "headers.x-two",
            "[\"1\",\"2\"]",
        ),
        (
            r#"{"method":"get","url":"HOST/yaml"}"#,
            "body",
            "{\"a\":[1]}",
        ),
        (
            r#"{"method":"get","url":"HOST/error"}"#,
            "status_code",
            "500",
        ),
        (
            r#"{"method":"get","url":"HOST/redirect"}"#,
            "status_code",
            "302",
        ),
        (r#"{"method":"get","url":"HOST/packed"}"#, "body.a", "1"),
        (
            r#"{"method":"get","url":"HOST/packed"}"#,
            "headers.content-encoding",
            "",
        ),
        (
            r#"{"method":"get","url":"HOST/packed","headers":{"accept-encoding":"gzip"}}"#,
            "headers.content-encoding",
            "[\"gzip\"]",
        ),
        (
            r#"{"method":"get","url":"HOST/packed","headers":{"accept-encoding":"gzip"}}"#,
            "body",
            "null",
        ),
        (
            r#"{"method":"get","raise_error":false}"#,
            "error.message",
            r#""p.rego:3: eval_type_error: http.send: operand 1 missing required request parameters(s): {\"url\"}""#,
        ),
        (
            r#"{"method":"get","url":"HOST/slow","raise_error":false}"#,
            "error",
            r#"{"code":"eval_http_send_network_error","message":"Get \"http://server.test/slow\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"}"#,
        ),
        (
            r#"{"method":"get","url":"HOST:7/refused","raise_error":false}"#,
            "error",
            r#"{"code":"eval_http_send_network_error","message":"Get \"http://server.test:7/refused\": dial tcp server.test:7: connect: connection refused"}"#,
        ),
        (
            r#"{"method":"get","url":"HOST/forbidden","raise_error":false}"#,
            "error",
            r#"{"code":"eval_http_send_internal_error","message":"p.rego:3: eval_builtin_error: http.send: disallowed host: server.test"}"#,
        ),
    ];
    for (request, path, expected) in table {
        let answer = Shared::default().send(request).expect(request);
        assert_eq!(
            member(&answer, path),
            expected,
            "{request} answered {answer}"
        );
    }
}

#[test]
fn failures_are_raised() {
    let too_long = format!("the response is longer than {MAX_BODY} bytes");
    let table = [
        (r#""url":"HOST/slow""#, "Get HOST/slow: request timed out"),
        (
            r#""url":"HOST/nowhere""#,
            "Get \"HOST/nowhere\": dial tcp: lookup server.test: no such host",
        ),
        (
            r#""url":"HOST/refused""#,
            "Get \"HOST/refused\": dial tcp server.test:80: connect: connection refused",
        ),
        (r#""url":"HOST/broken""#, "Get \"HOST/broken\": EOF"),
        (
            r#""url":"HOST/long""#,
            &format!("Get \"HOST/long\": {too_long}"),
        ),
        (
            r#""url":"HOST/bomb""#,
            &format!("Get \"HOST/bomb\": {too_long}"),
        ),
        (r#""url":"HOST/untaken""#, "not so"),
        (r#""url":"HOST/forbidden""#, "disallowed host: server.test"),
        (
            r#""url":"HOST/endless","enable_redirect":true"#,
            "Get \"HOST/endless\": stopped after too many redirects",
        ),
    ];
    for (request, expected) in table {
        let request = format!(r#"{{"method":"get",{request}}}"#);
        let failure = Shared::default().send(&request).expect_err(&request);
        let expected = Failure::Value(expected.replace("HOST", SERVER));
        assert_eq!(failure, expected, "{request}");
    }
    let cancelled = Shared::default().send(r#"{"method":"get","url":"HOST/cancelled"}"#);
    let cancelled = cancelled.expect_err("no answer");
    assert_eq!(cancelled, Failure::Aborted(AbortReason::Cancelled));
}

#[test]
fn only_allowed_hosts_are_reached() {
    for (allowed, url, refused) in [
        ("else.test", "HOST/json", Some("server.test")),
        ("server.test", "HOST/json", None),
        ("server.test", "HOST/away", Some("else.test")),
    ] {
        let shared = Shared::default();
        let mut session = Session {
            allowed_hosts: Some(Arc::from([allowed.to_owned()])),
            ..Session::default()
        };
        let request = format!(r#"{{"method":"get","url":"{url}","enable_redirect":true}}"#);
        let failure = shared.send_in(&mut session, &request).err();
        let expected = refused.map(|host| Failure::Value(format!("disallowed host: {host}")));
        assert_eq!(failure, expected, "{allowed}: {url}");
        let requests = shared.host.requests();
        let elsewhere = |request: &HttpRequest| request.url.host_str() != Some(allowed);
        assert!(!requests.iter().any(elsewhere), "{allowed}: {url}");
    }
}

#[test]
fn without_a_host_nothing_is_reached() {
    let request = r#"{"method":"get","url":"HOST/json"}"#;
    let failure = send(&mut Session::default(), BuiltinContext::default(), request);
    let expected = Failure::Value("disallowed host: server.test".to_owned());
    assert_eq!(failure.expect_err("no answer"), expected);
}

#[test]
fn the_same_request_is_sent_once() {
    let plain = r#"{"method":"get","url":"HOST/once"}"#;
    let cached = r#"{"method":"get","url":"HOST/kept","force_cache":true,"force_cache_duration_seconds":60}"#;
    let tagged = r#"{"method":"get","url":"HOST/tag","cache":true}"#;
    let shared = Shared::default();
    for (request, beyond) in [(plain, false), (cached, true), (tagged, true)] {
        let mut first = Session::default();
        let one = shared.send_in(&mut first, request).expect(request);
        let same = shared.send_in(&mut first, request).expect(request);
        let next = shared.send(request).expect(request);
        let [one, same, next] = [one, same, next].map(|answer| member(&answer, "body.count"));
        assert_eq!(one, same, "{request} within an evaluation");
        assert_eq!(one == next, beyond, "{request} beyond an evaluation");
    }
}

#[test]
fn responses_to_requests_with_an_unknown_caching_mode_are_not_kept() {
    let request = r#"{"method":"get","url":"HOST/kept","force_cache":true,"force_cache_duration_seconds":60,"caching_mode":"MODE","raise_error":false}"#;
    for (mode, is_cached) in [("unknown", false), ("deserialized", true)] {
        let shared = Shared::default();
        let request = request.replace("MODE", mode);
        let answer = shared.send(&request).expect("an answer");
        assert_eq!(member(&answer, "status_code"), "200", "{mode}");
        assert_eq!(member(&answer, "error"), "", "{mode}");
        let answer = shared.send(&request).expect("an answer");
        assert_eq!(member(&answer, "status_code"), "200", "{mode}");
        let requests = if is_cached { 1 } else { 2 };
        assert_eq!(shared.host.requests().len(), requests, "{mode}");
    }
}
