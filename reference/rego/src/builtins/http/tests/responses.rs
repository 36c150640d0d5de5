//! Responses and errors as policies see them.

use std::sync::Arc;

use rstest::rstest;

use super::{SERVER, Shared, member, send};
use crate::builtins::http::options::MAX_BODY;
use crate::builtins::{BuiltinContext, Failure, Session};
use crate::host::HttpRequest;
use crate::meter::AbortReason;

#[rstest]
#[case::usual_status(r#"{"method":"get","url":"HOST/json"}"#, "status", "\"200 OK\"")]
#[case::other_status(r#"{"method":"get","url":"HOST/fine"}"#, "status", "\"200 Fine\"")]
#[case::no_body(r#"{"method":"get","url":"HOST/fine"}"#, "body", "null")]
#[case::raw_body(r#"{"method":"get","url":"HOST/fine"}"#, "raw_body", "\"plain\"")]
#[case::header_with_two_values(
    r#"{"method":"get","url":"HOST/fine"}"#,
    "headers.x-two",
    "[\"1\",\"2\"]"
)]
#[case::body_in_yaml(r#"{"method":"get","url":"HOST/yaml"}"#, "body", "{\"a\":[1]}")]
#[case::code_of_an_error(r#"{"method":"get","url":"HOST/error"}"#, "status_code", "500")]
#[case::code_of_a_redirection(r#"{"method":"get","url":"HOST/redirect"}"#, "status_code", "302")]
#[case::packed_body(r#"{"method":"get","url":"HOST/packed"}"#, "body.a", "1")]
#[case::encoding_of_a_packed_body(
    r#"{"method":"get","url":"HOST/packed"}"#,
    "headers.content-encoding",
    ""
)]
#[case::encoding_that_was_asked_for(
    r#"{"method":"get","url":"HOST/packed","headers":{"accept-encoding":"gzip"}}"#,
    "headers.content-encoding",
    "[\"gzip\"]"
)]
#[case::packed_body_that_was_asked_for(
    r#"{"method":"get","url":"HOST/packed","headers":{"accept-encoding":"gzip"}}"#,
    "body",
    "null"
)]
#[case::missing_parameter(
    r#"{"method":"get","raise_error":false}"#,
    "error.message",
    r#""p.rego:3: eval_type_error: http.send: operand 1 missing required request parameters(s): {\"url\"}""#
)]
#[case::time_out(
    r#"{"method":"get","url":"HOST/slow","raise_error":false}"#,
    "error",
    r#"{"code":"eval_http_send_network_error","message":"Get \"http://server.test/slow\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"}"#
)]
#[case::connection_refused(
    r#"{"method":"get","url":"HOST:7/refused","raise_error":false}"#,
    "error",
    r#"{"code":"eval_http_send_network_error","message":"Get \"http://server.test:7/refused\": dial tcp server.test:7: connect: connection refused"}"#
)]
#[case::disallowed_host(
    r#"{"method":"get","url":"HOST/forbidden","raise_error":false}"#,
    "error",
    r#"{"code":"eval_http_send_internal_error","message":"p.rego:3: eval_builtin_error: http.send: disallowed host: server.test"}"#
)]
fn responses_are_shown(#[case] request: &str, #[case] path: &str, #[case] expected: &str) {
    let answer = Shared::default().send(request).expect(request);
    assert_eq!(
        member(&answer, path),
        expected,
        "{request} answered {answer}"
    );
}

#[rstest]
#[case::time_out(r#""url":"HOST/slow""#, "Get HOST/slow: request timed out")]
#[case::no_such_host(
    r#""url":"HOST/nowhere""#,
    "Get \"HOST/nowhere\": dial tcp: lookup server.test: no such host"
)]
#[case::connection_refused(
    r#""url":"HOST/refused""#,
    "Get \"HOST/refused\": dial tcp server.test:80: connect: connection refused"
)]
#[case::broken(r#""url":"HOST/broken""#, "Get \"HOST/broken\": EOF")]
#[case::too_long(
    r#""url":"HOST/long""#,
    "Get \"HOST/long\": the response is longer than MAX_BODY bytes"
)]
#[case::too_long_when_unpacked(
    r#""url":"HOST/bomb""#,
    "Get \"HOST/bomb\": the response is longer than MAX_BODY bytes"
)]
#[case::refused_by_the_host(r#""url":"HOST/untaken""#, "not so")]
#[case::disallowed_host(r#""url":"HOST/forbidden""#, "disallowed host: server.test")]
#[case::endless_redirections(
    r#""url":"HOST/endless","enable_redirect":true"#,
    "Get \"HOST/endless\": stopped after too many redirects"
)]
fn failures_are_raised(#[case] request: &str, #[case] expected: &str) {
    let request = format!(r#"{{"method":"get",{request}}}"#);
    let failure = Shared::default().send(&request).expect_err(&request);
    let expected = expected.replace("HOST", SERVER);
    let expected = expected.replace("MAX_BODY", &MAX_BODY.to_string());
    assert_eq!(failure, Failure::Value(expected));
}

#[test]
fn cancelled_requests_end_the_evaluation() {
    let cancelled = Shared::default().send(r#"{"method":"get","url":"HOST/cancelled"}"#);
    let cancelled = cancelled.expect_err("no answer");
    assert_eq!(cancelled, Failure::Aborted(AbortReason::Cancelled));
}

#[rstest]
#[case::not_the_first("else.test", "HOST/json", Some("server.test"))]
#[case::the_first("server.test", "HOST/json", None)]
#[case::not_the_second("server.test", "HOST/away", Some("else.test"))]
fn only_allowed_hosts_are_reached(
    #[case] allowed: &str,
    #[case] url: &str,
    #[case] refused: Option<&str>,
) {
    let shared = Shared::default();
    let mut session = Session {
        allowed_hosts: Some(Arc::from([allowed.to_owned()])),
        ..Session::default()
    };
    let request = format!(r#"{{"method":"get","url":"{url}","enable_redirect":true}}"#);
    let failure = shared.send_in(&mut session, &request).err();
    let expected = refused.map(|host| Failure::Value(format!("disallowed host: {host}")));
    assert_eq!(failure, expected);
    let requests = shared.host.requests();
    let elsewhere = |request: &HttpRequest| request.url.host_str() != Some(allowed);
    assert!(!requests.iter().any(elsewhere));
}

#[test]
fn without_a_host_nothing_is_reached() {
    let request = r#"{"method":"get","url":"HOST/json"}"#;
    let failure = send(&mut Session::default(), BuiltinContext::default(), request);
    let expected = Failure::Value("disallowed host: server.test".to_owned());
    assert_eq!(failure.expect_err("no answer"), expected);
}

#[rstest]
#[case::plain(r#"{"method":"get","url":"HOST/once"}"#, false)]
#[case::cached(
    r#"{"method":"get","url":"HOST/kept","force_cache":true,"force_cache_duration_seconds":60}"#,
    true
)]
#[case::tagged(r#"{"method":"get","url":"HOST/tag","cache":true}"#, true)]
fn the_same_request_is_sent_once(#[case] request: &str, #[case] beyond: bool) {
    let shared = Shared::default();
    let mut first = Session::default();
    let one = shared.send_in(&mut first, request).expect(request);
    let same = shared.send_in(&mut first, request).expect(request);
    let next = shared.send(request).expect(request);
    let [one, same, next] = [one, same, next].map(|answer| member(&answer, "body.count"));
    assert_eq!(one, same, "within an evaluation");
    assert_eq!(one == next, beyond, "beyond an evaluation");
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
