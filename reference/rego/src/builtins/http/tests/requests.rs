//! Requests as the host sends them.

use std::time::{Duration, Instant};

use rstest::rstest;

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

#[rstest]
#[case::get(r#""url":"HOST""#, "GET http://server.test/ None")]
#[case::post(
    r#""method":"post","url":"HOST/a?b""#,
    "POST http://server.test/a?b Some(\"\")"
)]
#[case::body_in_json(
    r#""method":"post","url":"HOST","body":{"a":1}"#,
    r#"POST http://server.test/ Some("{\"a\":1}")"#
)]
#[case::raw_body(
    r#""method":"put","url":"HOST","raw_body":"ab","body":1"#,
    r#"PUT http://server.test/ Some("ab")"#
)]
#[case::socket(
    r#""url":"unix://localhost/a/b?socket=%2Ftmp%2Fs&c=d""#,
    "GET http://localhost/a/b?c=d None at /tmp/s"
)]
fn requests_are_sent_as_they_are_described(#[case] request: &str, #[case] expected: &str) {
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
    assert_eq!(found, expected);
    assert_eq!(sent.tls, None);
}

#[rstest]
#[case::method_of_another_type(r#""method":1,"url":"HOST""#, "\"method\" must be a string")]
#[case::method_with_a_space(r#""method":"g t","url":"HOST""#, "net/http: invalid method \"G T\"")]
#[case::scheme(
    r#""method":"get","url":"ftp://x""#,
    "Get \"ftp://x\": unsupported protocol scheme \"ftp\""
)]
#[case::timeout(
    r#""method":"get","url":"HOST","timeout":"x""#,
    "invalid timeout value \"x\": time: invalid duration \"x\""
)]
#[case::header_of_another_type(
    r#""method":"get","url":"HOST","headers":{"a":1}"#,
    "invalid type for headers value \"1\""
)]
#[case::name_of_a_header(
    r#""method":"get","url":"HOST","headers":{"a b":"c"}"#,
    "Get \"HOST\": net/http: invalid header field name \"a b\""
)]
fn descriptions_that_do_not_do_are_refused(#[case] request: &str, #[case] expected: &str) {
    let shared = Shared::default();
    let failure = shared.send(&format!("{{{request}}}")).expect_err(request);
    let expected = Failure::Value(expected.replace("HOST", SERVER));
    assert_eq!(failure, expected);
    assert_eq!(shared.host.requests().len(), 0);
}

#[rstest]
#[case::nothing_said("", Some(Duration::from_secs(5)))]
#[case::text(r#","timeout":"1m30s""#, Some(Duration::from_secs(90)))]
#[case::nanoseconds(r#","timeout":50000000"#, Some(Duration::from_millis(50)))]
#[case::no_limit(r#","timeout":0"#, None)]
fn requests_have_the_time_that_they_ask_for(
    #[case] timeout: &str,
    #[case] expected: Option<Duration>,
) {
    let shared = Shared::default();
    let request = format!(r#"{{"method":"get","url":"HOST"{timeout}}}"#);
    let begun = Instant::now();
    shared.send(&request).expect("an answer");
    let elapsed = begun.elapsed();
    let remaining = shared.host.last().timeout;
    assert_eq!(remaining.is_some(), expected.is_some());
    // Time that passed before the request was sent is deducted from its timeout.
    let missing = expected
        .zip(remaining)
        .map(|(expected, remaining)| expected - remaining);
    assert!(missing.is_none_or(|time| time <= elapsed), "{missing:?}");
}

#[rstest]
#[case::user_and_password(
    r#""url":"http://us%3aer:p%40ss@server.test/json""#,
    "authorization: Basic dXM6ZXI6cEBzcw=="
)]
#[case::user(
    r#""url":"http://user@server.test/json""#,
    "authorization: Basic dXNlcjo="
)]
#[case::own_header(
    r#""url":"http://user:pass@server.test/json","headers":{"Authorization":"own"}"#,
    "authorization: own"
)]
#[case::empty_user(r#""url":"http://@server.test/json""#, "")]
fn users_in_addresses_prove_who_they_are(#[case] request: &str, #[case] sent: &str) {
    let shared = Shared::default();
    let request = format!(r#"{{"method":"get","enable_redirect":true,{request}}}"#);
    shared.send(&request).expect("an answer");
    let last = shared.host.last();
    assert_eq!(last.url.as_str(), "http://server.test/json");
    let sent = format!("accept-encoding: gzip, {sent}");
    assert_eq!(headers(&shared.host), sent.trim_end_matches(", "));
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

#[rstest]
#[case::never(0, "0", &[])]
#[case::too_rarely(1, "0", &[100])]
#[case::often_enough(2, "200", &[100, 200])]
#[case::more_often_than_needed(3, "200", &[100, 200])]
fn failed_requests_are_sent_again_as_often_as_asked(
    #[case] attempts: u32,
    #[case] code: &str,
    #[case] pauses: &[u64],
) {
    let shared = Shared::default();
    let request = format!(
        r#"{{"method":"get","url":"HOST/third","raise_error":false,"max_retry_attempts":{attempts}}}"#
    );
    let answer = shared.send(&request).expect("an answer");
    assert_eq!(member(&answer, "status_code"), code, "{attempts}: {answer}");
    let pauses: Vec<Duration> = pauses.iter().copied().map(Duration::from_millis).collect();
    let paused = shared.host.pauses.lock().expect("the pauses");
    assert_eq!(*paused, pauses);
}
