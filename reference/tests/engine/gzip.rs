//! Compressed requests and responses.

use std::io::{Read, Write};
use std::sync::atomic::Ordering;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::{HeaderMap, HeaderName, HeaderValue};
use reference::engine::{Engine, Options};
use reference::http::Reply;
use rstest::rstest;

use crate::exchange::{engine, format_reply, request, run_script_on};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    match encoder.write_all(text).and_then(|()| encoder.finish()) {
        Ok(compressed) => compressed,
        Err(failure) => panic!("cannot compress: {failure}"),
    }
}

fn send(engine: &Engine, line: &str, header: (HeaderName, &'static str), body: Vec<u8>) -> Reply {
    let (method, target) = line.split_once(' ').unwrap_or_default();
    let headers = HeaderMap::from_iter([(header.0, HeaderValue::from_static(header.1))]);
    engine.respond(request(method, target, headers, body))
}

#[test]
fn compressed_posts_are_read() {
    let engine = Engine::default();
    run_script_on(&engine, "PUT /v1/data/a 1 => 204");
    let complete = gzip(br#"{"input": 1}"#);
    let mut twice = gzip(br#"{"input""#);
    twice.extend(gzip(b": 2}"));
    let mut longer = complete.clone();
    longer.extend(b"trailing");
    let half = complete
        .get(..complete.len() / 2)
        .unwrap_or_default()
        .to_vec();
    let mut flipped = complete.clone();
    flipped.iter_mut().skip(12).for_each(|byte| *byte ^= 0x55);
    for (line, encoding, body, answer) in [
        (
            "POST /v1/data/a",
            "gzip",
            complete.clone(),
            r#"200 {"result":1}"#,
        ),
        (
            "POST /v1/data/a",
            "x-gzip",
            complete.clone(),
            r#"200 {"result":1}"#,
        ),
        ("POST /v1/data/a", "gzip", twice, r#"200 {"result":1}"#),
        ("POST /v0/data/a", "gzip", gzip(b"{}"), "200 1"),
        ("POST /", "gzip", gzip(b"{}"), "404 undefined_document"),
        (
            "POST /v1/data/a",
            "identity",
            br#"{"input": 1}"#.to_vec(),
            r#"200 {"result":1}"#,
        ),
        (
            "POST /v1/data/a",
            "br",
            br#"{"input": 1}"#.to_vec(),
            r#"200 {"result":1}"#,
        ),
        (
            "POST /v1/data/a",
            "identity",
            complete.clone(),
            "400 invalid_parameter",
        ),
        ("POST /v1/data/a", "gzip", longer, "400 invalid_parameter"),
        ("POST /v1/data/a", "gzip", half, "400 invalid_parameter"),
        ("POST /v1/data/a", "gzip", flipped, "400 invalid_parameter"),
        (
            "POST /v1/data/a",
            "gzip",
            br#"{"input": 1}"#.to_vec(),
            "400 invalid_parameter",
        ),
        (
            "POST /v1/data/a",
            "gzip",
            gzip(b"{"),
            "400 invalid_parameter",
        ),
        ("PUT /v1/data/a", "gzip", complete, "400 invalid_parameter"),
    ] {
        let reply = send(&engine, line, (CONTENT_ENCODING, encoding), body);
        assert_eq!(format_reply(&reply), answer, "{line} {encoding}");
    }
}

#[rstest]
#[case::below_the_limit(900, "200 {}")]
#[case::above_the_limit(1100, "400 invalid_parameter")]
#[case::bomb(50 << 20, "400 invalid_parameter")]
fn a_compressed_body_may_not_hold_more_than_the_limit(#[case] length: usize, #[case] answer: &str) {
    let limited = engine(Options {
        set: vec!["server.decoding.gzip.max_length=1000".to_owned()],
        ..Options::default()
    });
    let body = format!(r#"{{"input": "{}"}}"#, "x".repeat(length));
    let header = (CONTENT_ENCODING, "gzip");
    let reply = send(&limited, "POST /v1/data/a", header, gzip(body.as_bytes()));
    assert_eq!(format_reply(&reply), answer);
}

#[test]
fn only_a_long_compressed_body_is_given_up_when_the_client_has_closed_its_side() {
    let engine = Engine::default();
    for (length, answer) in [
        (10, "400 invalid_parameter"),
        (50 << 20, "500 internal_error"),
    ] {
        let body = gzip(&vec![b'x'; length]);
        let encoding = (CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        let headers = HeaderMap::from_iter([encoding]);
        let request = request("POST", "/v1/data/a", headers, body);
        request.cancelled.store(true, Ordering::Relaxed);
        assert_eq!(format_reply(&engine.respond(request)), answer, "{length}");
    }
}

#[rstest]
#[case::gzip("GET /v1/data/long", "gzip", true, true)]
#[case::several_with_weights("GET /v1/data/long", "br, GZIP;q=0.5", true, true)]
#[case::post("POST /v1/data/long", "gzip", true, true)]
#[case::post_of_version_0("POST /v0/data/long", "gzip", true, true)]
#[case::not_wanted("GET /v1/data/long", "gzip;q=0", false, true)]
#[case::not_wanted_with_a_fraction("GET /v1/data/long", "gzip; q=0.0", false, true)]
#[case::other_encoding("GET /v1/data/long", "deflate", false, true)]
#[case::star("GET /v1/data/long", "*", false, true)]
#[case::short("GET /v1/data/short", "gzip", false, true)]
#[case::no_content("PUT /v1/data/short", "gzip", false, false)]
#[case::configuration("GET /v1/config", "gzip", false, false)]
fn long_answers_are_compressed_for_those_who_ask(
    #[case] line: &str,
    #[case] accepts: &'static str,
    #[case] compressed: bool,
    #[case] varies: bool,
) {
    let engine = Engine::default();
    let long = format!("PUT /v1/data/long \"{}\" => 204", "x".repeat(2000));
    run_script_on(&engine, &long);
    run_script_on(&engine, "PUT /v1/data/short 1 => 204");
    let reply = send(&engine, line, (ACCEPT_ENCODING, accepts), Vec::new());
    let encoded = reply
        .headers
        .get(CONTENT_ENCODING)
        .is_some_and(|value| value == "gzip");
    assert_eq!(encoded, compressed);
    assert_eq!(reply.headers.contains_key(VARY), varies);
    let mut text = String::new();
    if compressed
        && let Err(failure) = GzDecoder::new(&*reply.body.bytes()).read_to_string(&mut text)
    {
        panic!("{line}: {failure}");
    }
    assert_eq!(text.contains(&"x".repeat(2000)), compressed);
}

#[test]
fn the_threshold_is_configured() {
    for (threshold, compressed) in [(12, true), (13, false)] {
        let engine = engine(Options {
            set: vec![format!("server.encoding.gzip.min_length={threshold}")],
            ..Options::default()
        });
        run_script_on(&engine, "PUT /v1/data/a 1 => 204");
        // The response `{"result":1}` with its line feed has 13 bytes.
        let reply = send(
            &engine,
            "GET /v1/data/a",
            (ACCEPT_ENCODING, "gzip"),
            Vec::new(),
        );
        let encoded = reply.headers.contains_key(CONTENT_ENCODING);
        assert_eq!(encoded, compressed, "{threshold}");
    }
}
