//! Input of the authorization policy, and the responses to refused callers.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, HOST};
use http::{HeaderMap, HeaderValue};
use reference::engine::{Engine, Options};

use crate::exchange::{engine, format_reply, request};

/// Authorization policy that permits a token, and bodies with a certain member.
const POLICY: &str = r#"package system.authz

default allow := false

allow if input.identity == "secret"

allow if {
    input.path == ["v1", "data", "by", "body"]
    input.body.input.please
}

allow := {"allowed": true} if {
    input.path == ["v1", "data", "by", "object"]
    input.body.input.please
}
"#;

fn guarded() -> Engine {
    let Ok(folder) = tempfile::tempdir() else {
        panic!("no folder for the policy");
    };
    let path = folder.path().join("authz.rego");
    if let Err(failure) = fs::write(&path, POLICY) {
        panic!("the policy is not written: {failure}");
    }
    engine(Options {
        authentication: "token".to_owned(),
        authorization: "basic".to_owned(),
        data: vec![path.display().to_string()],
        ..Options::default()
    })
}

fn send_request(engine: &Engine, line: &str, token: &str, gzip: bool, body: Vec<u8>) -> String {
    let (method, target) = line.split_once(' ').unwrap_or_default();
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(&format!("Bearer {token}")) {
        headers.insert(AUTHORIZATION, value);
    }
    if gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    format_reply(&engine.respond(request(method, target, headers, body)))
}

/// Any white space separates the scheme from the token, as in OPA.
#[test]
fn spaces_separate_the_scheme_from_the_token() {
    let engine = guarded();
    for (header, is_known) in [
        ("Bearer secret", true),
        ("Bearer   secret", true),
        ("Bearer\tsecret", true),
        ("Bearersecret", false),
        ("bearer secret", false),
        ("Bearer sec ret", false),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static(header));
        let reply = engine.respond(request("GET", "/v1/data/x", headers, Vec::new()));
        assert_eq!(format_reply(&reply) == "200 {}", is_known, "{header:?}");
    }
}

/// Stores an authorization policy with additional rules.
fn put_policy(engine: &Engine, text: &str) {
    let line = "PUT /v1/policies/authz";
    let put = send_request(engine, line, "secret", false, text.into());
    assert_eq!(put, "200 {}");
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    match encoder.write_all(text).and_then(|()| encoder.finish()) {
        Ok(compressed) => compressed,
        Err(failure) => panic!("cannot compress: {failure}"),
    }
}

#[test]
fn the_host_is_no_header() {
    let engine = guarded();
    let text = "package system.authz\n\nallow if object.keys(input.headers) == {\"Accept\"}\n";
    put_policy(&engine, text);
    let mut headers = HeaderMap::new();
    for name in [HOST, ACCEPT] {
        headers.insert(name, HeaderValue::from_static("x"));
    }
    let reply = engine.respond(request("GET", "/v1/data/x", headers, Vec::new()));
    assert_eq!(format_reply(&reply), "200 {}");
}

#[test]
fn methods_and_other_forms_of_paths_are_told_only_to_whom_the_policy_lets_in() {
    let engine = guarded();
    for (line, known) in [
        ("OPTIONS /v1/data/private", "405"),
        ("DELETE /v1/query", "405"),
        ("PUT /health", "405 Method Not Allowed"),
        ("HEAD /v1/data", "405"),
        ("GET /v1/data/a/", "301"),
        ("GET /v1//data", "307"),
        ("POST /v1/data//a", "307"),
        ("GET /nope", "404 404 page not found"),
    ] {
        let stranger = send_request(&engine, line, "none", false, Vec::new());
        assert_eq!(stranger, "401 unauthorized", "{line}");
        assert_eq!(
            send_request(&engine, line, "secret", false, Vec::new()),
            known,
            "{line}"
        );
    }
}

/// The policy sees the path segments that the handler uses, however they are encoded. The decisions
/// are those of OPA 1.22.0.
#[test]
fn no_spelling_of_a_path_leads_past_the_policy() {
    let text = r#"package system.authz

allow if not closed

closed if array.slice(input.path, 1, 4) == ["policies", "closed", "p"]

closed if input.path == ["v1", "compile", "closed", "p"]

closed if input.path == ["v1", "data", "closed/p"]

closed if input.path == ["v1", "data", "closed", "p"]
"#;
    for (line, is_refused) in [
        ("PUT /v1/policies/closed/p", true),
        ("PUT /v1/policies/closed%2Fp", true),
        ("PUT /v1/policies/closed%2fp", true),
        ("PUT /v1/policies/%63losed%2F%70", true),
        ("PUT /v1/%70olicies/closed/p", true),
        ("PUT /v1/policies/closed%252Fp", false),
        ("DELETE /v1/policies/closed%2Fp", true),
        ("GET /v1/policies/closed%2Fp", true),
        ("POST /v1/compile/closed%2Fp", true),
        ("POST /v1/compile/closed/p", true),
        ("POST /v1/compile/closed%252Fp", false),
        ("GET /v1/data/closed/p", true),
        ("GET /v1/data/closed%2Fp", true),
        ("GET /v1/d%61ta/closed/p", true),
        ("GET /v1/data/closed/p%2F", false),
    ] {
        let engine = guarded();
        put_policy(&engine, text);
        let body = match line.starts_with("PUT") {
            true => "package q",
            false => "{}",
        };
        let answer = send_request(&engine, line, "none", false, body.into());
        assert_eq!(answer == "401 unauthorized", is_refused, "{line}: {answer}");
    }
}

/// The body of a refused caller is not decompressed: an invalid gzip body does not cause a 400.
#[test]
fn bodies_of_strangers_are_not_unpacked() {
    let engine = guarded();
    let broken = || b"no gzip".to_vec();
    for (line, token, answer) in [
        ("POST /v1/data/private", "none", "401 unauthorized"),
        ("POST /v0/data/private", "none", "401 unauthorized"),
        ("POST /v1/compile", "none", "401 unauthorized"),
        ("POST /v1/data/private", "secret", "400 invalid_parameter"),
        ("POST /v1/data/by/body", "none", "400 invalid_parameter"),
        ("POST /v1/data/by/object", "none", "400 invalid_parameter"),
    ] {
        assert_eq!(
            send_request(&engine, line, token, true, broken()),
            answer,
            "{line} {token}"
        );
    }
    // A large body is not parsed, either.
    let large = || vec![b'{'; 100 << 10];
    let line = "POST /v1/data/private";
    assert_eq!(
        send_request(&engine, line, "none", false, large()),
        "401 unauthorized"
    );
    assert_eq!(
        send_request(&engine, line, "secret", false, large()),
        "400 invalid_parameter"
    );
}

#[test]
fn what_the_body_says_still_counts() {
    let engine = guarded();
    for (line, body, answer) in [
        (
            "POST /v1/data/by/body",
            r#"{"input":{"please":true}}"#,
            "200 {}",
        ),
        (
            "POST /v1/data/by/object",
            r#"{"input":{"please":true}}"#,
            "200 {}",
        ),
        (
            "POST /v1/data/by/body",
            r#"{"input":{"please":false}}"#,
            "401 unauthorized",
        ),
    ] {
        let answered = send_request(&engine, line, "none", true, gzip(body.as_bytes()));
        assert_eq!(answered, answer, "{line} {body}");
    }
}
