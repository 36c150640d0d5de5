//! Input of the authorization policy, and the responses to refused callers.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, HOST};
use http::{HeaderMap, HeaderValue};
use reference::engine::{Engine, Options};
use rstest::rstest;

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
#[rstest]
#[case::one_space("Bearer secret", true)]
#[case::several_spaces("Bearer   secret", true)]
#[case::tab("Bearer\tsecret", true)]
#[case::no_space("Bearersecret", false)]
#[case::lower_case("bearer secret", false)]
#[case::space_in_the_token("Bearer sec ret", false)]
fn spaces_separate_the_scheme_from_the_token(#[case] header: &'static str, #[case] is_known: bool) {
    let engine = guarded();
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_static(header));
    let reply = engine.respond(request("GET", "/v1/data/x", headers, Vec::new()));
    assert_eq!(format_reply(&reply) == "200 {}", is_known);
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

#[rstest]
#[case::options_of_data("OPTIONS /v1/data/private", "405")]
#[case::delete_of_a_query("DELETE /v1/query", "405")]
#[case::put_of_health("PUT /health", "405 Method Not Allowed")]
#[case::head_of_data("HEAD /v1/data", "405")]
#[case::slash_at_the_end("GET /v1/data/a/", "301")]
#[case::two_slashes("GET /v1//data", "307")]
#[case::two_slashes_in_a_post("POST /v1/data//a", "307")]
#[case::unknown_path("GET /nope", "404 404 page not found")]
fn methods_and_other_forms_of_paths_are_told_only_to_whom_the_policy_lets_in(
    #[case] line: &str,
    #[case] known: &str,
) {
    let engine = guarded();
    let stranger = send_request(&engine, line, "none", false, Vec::new());
    assert_eq!(stranger, "401 unauthorized");
    assert_eq!(
        send_request(&engine, line, "secret", false, Vec::new()),
        known
    );
}

/// The policy sees the path segments that the handler uses, however they are encoded. The decisions
/// are those of OPA 1.22.0.
const CLOSED: &str = r#"package system.authz

allow if not closed

closed if array.slice(input.path, 1, 4) == ["policies", "closed", "p"]

closed if input.path == ["v1", "compile", "closed", "p"]

closed if input.path == ["v1", "data", "closed/p"]

closed if input.path == ["v1", "data", "closed", "p"]
"#;

#[rstest]
#[case::policy("PUT /v1/policies/closed/p", true)]
#[case::escaped_slash("PUT /v1/policies/closed%2Fp", true)]
#[case::lower_case_escape("PUT /v1/policies/closed%2fp", true)]
#[case::escaped_letters("PUT /v1/policies/%63losed%2F%70", true)]
#[case::escaped_route("PUT /v1/%70olicies/closed/p", true)]
#[case::escaped_twice("PUT /v1/policies/closed%252Fp", false)]
#[case::deleted_policy("DELETE /v1/policies/closed%2Fp", true)]
#[case::read_policy("GET /v1/policies/closed%2Fp", true)]
#[case::compiled_path("POST /v1/compile/closed%2Fp", true)]
#[case::compiled_plain_path("POST /v1/compile/closed/p", true)]
#[case::compiled_path_escaped_twice("POST /v1/compile/closed%252Fp", false)]
#[case::data("GET /v1/data/closed/p", true)]
#[case::data_with_an_escaped_slash("GET /v1/data/closed%2Fp", true)]
#[case::data_with_an_escaped_route("GET /v1/d%61ta/closed/p", true)]
#[case::slash_at_the_end("GET /v1/data/closed/p%2F", false)]
fn no_spelling_of_a_path_leads_past_the_policy(#[case] line: &str, #[case] is_refused: bool) {
    let engine = guarded();
    put_policy(&engine, CLOSED);
    let body = match line.starts_with("PUT") {
        true => "package q",
        false => "{}",
    };
    let answer = send_request(&engine, line, "none", false, body.into());
    assert_eq!(answer == "401 unauthorized", is_refused, "{line}: {answer}");
}

/// The body of a refused caller is not decompressed: an invalid gzip body does not cause a 400.
#[rstest]
#[case::stranger("POST /v1/data/private", "none", true, b"no gzip".to_vec(), "401 unauthorized")]
#[case::stranger_of_version_0(
    "POST /v0/data/private",
    "none",
    true,
    b"no gzip".to_vec(),
    "401 unauthorized"
)]
#[case::stranger_who_compiles(
    "POST /v1/compile",
    "none",
    true,
    b"no gzip".to_vec(),
    "401 unauthorized"
)]
#[case::known(
    "POST /v1/data/private",
    "secret",
    true,
    b"no gzip".to_vec(),
    "400 invalid_parameter"
)]
#[case::policy_with_the_body(
    "POST /v1/data/by/body",
    "none",
    true,
    b"no gzip".to_vec(),
    "400 invalid_parameter"
)]
#[case::policy_with_the_object(
    "POST /v1/data/by/object",
    "none",
    true,
    b"no gzip".to_vec(),
    "400 invalid_parameter"
)]
// A large body is not parsed, either.
#[case::large_of_a_stranger(
    "POST /v1/data/private",
    "none",
    false,
    vec![b'{'; 100 << 10],
    "401 unauthorized"
)]
#[case::large_of_one_who_is_known(
    "POST /v1/data/private",
    "secret",
    false,
    vec![b'{'; 100 << 10],
    "400 invalid_parameter"
)]
fn bodies_of_strangers_are_not_unpacked(
    #[case] line: &str,
    #[case] token: &str,
    #[case] gzip: bool,
    #[case] body: Vec<u8>,
    #[case] answer: &str,
) {
    let engine = guarded();
    assert_eq!(send_request(&engine, line, token, gzip, body), answer);
}

#[rstest]
#[case::by_body("POST /v1/data/by/body", r#"{"input":{"please":true}}"#, "200 {}")]
#[case::by_object("POST /v1/data/by/object", r#"{"input":{"please":true}}"#, "200 {}")]
#[case::refused(
    "POST /v1/data/by/body",
    r#"{"input":{"please":false}}"#,
    "401 unauthorized"
)]
fn what_the_body_says_still_counts(#[case] line: &str, #[case] body: &str, #[case] answer: &str) {
    let engine = guarded();
    let answered = send_request(&engine, line, "none", true, gzip(body.as_bytes()));
    assert_eq!(answered, answer);
}
