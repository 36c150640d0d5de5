//! Tests of findings on servers with many different responses.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use super::*;
use crate::http_client::{Base, Connection, serve_tls};
use crate::target::Token;

const KEY: &str = "key-that-nobody-may-see";

/// Response to a path, with or without the right token: status line with further headers, and body.
type Answers = fn(&str, bool) -> (&'static str, String);

/// Name, responses, token, expected APIs and expected findings of a test case.
type Case = (
    &'static str,
    Answers,
    Option<&'static str>,
    &'static [Document],
    &'static [&'static str],
);

/// Inspects a server with these responses, with or without a token.
fn examine(answers: Answers, token: Option<&str>) -> Diagnosis {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut head = String::new();
            while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
            let path = head.split(' ').nth(1).unwrap_or_default();
            let evaluates = ["/v1/compile", "/v0/data/", "/v1/data/", "/v1/query"]
                .iter()
                .any(|place| head.starts_with(&format!("POST {place}")));
            assert!(head.starts_with("GET ") || evaluates, "{head}");
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse().ok())?
            });
            let mut body = vec![0; length.unwrap_or(0)];
            let _ = reader.read_exact(&mut body);
            let (head, body) = answers(path, head.contains(KEY));
            let length = body.len();
            let mut writer = &stream;
            // A client that has read enough disconnects.
            let _ = write!(
                writer,
                "{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    let tokens =
        token.map(|token| BTreeMap::from([("administrator".to_owned(), Token::new(token))]));
    let client = Client::new(&Connection::patient()).expect("a client");
    let base = Base::parse(&url).expect("an address");
    let server = Server::new(base, tokens.unwrap_or_default(), &[]);
    let doctor = Doctor {
        client: &client,
        server: &server,
        insecure: false,
        posts: true,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(doctor.examine())
}

const JSON: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json";
const MISSING: &str = "HTTP/1.1 404 Not Found";
const DENIED: &str = "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json";

fn engine(path: &str, _: bool) -> (&'static str, String) {
    let body = match path {
        "/health" | "/v1/data/conformance_doctor" => "{}",
        path if path.starts_with("/v1/query") => r#"{"result": [{"x": 1}]}"#,
        path if path.starts_with("/v1/data/conformance_doctor?") => {
            r#"{"metrics": {}, "provenance": {}}"#
        }
        "/v1/policies/conformance_doctor" => {
            return (MISSING, r#"{"code": "resource_not_found"}"#.to_owned());
        }
        _ => return (MISSING, "404".to_owned()),
    };
    (JSON, body.to_owned())
}

fn control(path: &str, known: bool) -> (&'static str, String) {
    match path {
        "/health" => (JSON, "{}".to_owned()),
        "/v1/bundles?limit=1" if known => (JSON, r#"{"result": []}"#.to_owned()),
        "/v1/bundles?limit=1" => (
            DENIED,
            r#"{"code": "unauthorized", "message": "\u001b[2Jnot other-key"}"#.to_owned(),
        ),
        _ => (MISSING, "404".to_owned()),
    }
}

#[test]
fn servers_are_told_apart() {
    use Document::{Control, Engine};
    let cases: &[Case] = &[
        ("engine", engine, None, &[Engine], &["asks for none"]),
        (
            "open",
            engine,
            Some(KEY),
            &[Engine],
            &["is answered without the token, too"],
        ),
        ("control", control, Some(KEY), &[Control], &["takes yours"]),
        (
            "locked",
            control,
            None,
            &[],
            &["problem token it asks for a token: 401"],
        ),
        (
            "wrong",
            control,
            Some("other-key"),
            &[],
            &["problem token GET /v1/bundles?limit=1 is refused"],
        ),
        (
            "control without anything",
            |path, known| match path {
                "/v1/bundles?limit=1" if known => (JSON, "{}".to_owned()),
                path => control(path, known),
            },
            Some(KEY),
            &[Control],
            &["may whose list is empty", "takes yours"],
        ),
        (
            "page",
            |_, _| {
                (
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html",
                    "<h1>Hello</h1>".to_owned(),
                )
            },
            None,
            &[],
            &["problem api", "a page for people"],
        ),
        (
            "elsewhere",
            |_, _| {
                (
                    "HTTP/1.1 302 Found\r\nLocation: https://example.org/",
                    String::new(),
                )
            },
            None,
            &[],
            &["problem api", "sends you elsewhere"],
        ),
        (
            "gateway",
            |_, _| ("HTTP/1.1 502 Bad Gateway\r\nVia: 1.1 proxy", String::new()),
            None,
            &[],
            &[
                "note proxy the header Via",
                "problem api",
                "a server that does not",
            ],
        ),
        (
            "nothing",
            |_, _| {
                (
                    "HTTP/1.1 404 Not Found\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT",
                    String::new(),
                )
            },
            None,
            &[],
            &["problem api", "nothing is there", "note clock its clock is"],
        ),
        (
            "no time",
            |_, _| ("HTTP/1.1 404 Not Found\r\nDate: yesterday", String::new()),
            None,
            &[],
            &[
                "problem api",
                "note clock invalid Date header: expected an HTTP date",
            ],
        ),
        (
            "not ready",
            |path, known| match path {
                "/health" => ("HTTP/1.1 503 Service Unavailable", String::new()),
                path => engine(path, known),
            },
            None,
            &[Engine],
            &["problem health GET /health answers 503"],
        ),
        (
            "anything",
            |_, _| (JSON, "{}".to_owned()),
            None,
            &[Engine],
            &["note api it answers 200 to a path that no document knows"],
        ),
        (
            "limited",
            |_, _| ("HTTP/1.1 429 Too Many Requests", String::new()),
            None,
            &[],
            &["problem api", "asks for fewer requests"],
        ),
        (
            "failing",
            |_, _| ("HTTP/1.1 500 Internal Server Error", String::new()),
            None,
            &[],
            &["problem api", "the server fails"],
        ),
        (
            "garbled",
            |_, _| (JSON, "{}}".to_owned()),
            None,
            &[],
            &["problem api", "the body is not JSON"],
        ),
        (
            "denying",
            |path, known| match path {
                path if path.starts_with("/v1/data/") => {
                    (MISSING, r#"{"code": "nothing"}"#.to_owned())
                }
                path => engine(path, known),
            },
            None,
            &[Engine],
            &["note api GET /v1/data/conformance_doctor answers 404"],
        ),
        (
            "denying all but the root",
            |path, known| match path {
                "/v1/data" => (JSON, r#"{"result": {}}"#.to_owned()),
                path if path.starts_with("/v1/data/") => (MISSING, "404".to_owned()),
                path => engine(path, known),
            },
            None,
            &[Engine],
            &["note api GET /v1/data/conformance_doctor answers 404"],
        ),
        (
            "TLS",
            |_, _| {
                (
                    "HTTP/1.0 400 Bad Request",
                    "Client sent an HTTP request to an HTTPS server.\n".to_owned(),
                )
            },
            None,
            &[],
            &["problem reach it speaks TLS use an https address"],
        ),
        (
            "no HTTP",
            |_, _| ("SSH-2.0-server", String::new()),
            None,
            &[],
            &["problem reach it does not speak HTTP"],
        ),
    ];
    for (name, answers, token, apis, texts) in cases {
        let diagnosis = examine(*answers, *token);
        assert_eq!(diagnosis.apis, *apis, "{name}: {diagnosis:#?}");
        let unreached = ["no HTTP", "TLS"].contains(name);
        assert_eq!(diagnosis.reached, !unreached, "{name}");
        let refused = diagnosis.refusal.as_ref().map(|refusal| refusal.unreached);
        let expected = match *name {
            "no HTTP" | "TLS" => Some(true),
            _ => apis.is_empty().then_some(false),
        };
        assert_eq!(refused, expected, "{name}: {:#?}", diagnosis.refusal);
        let lines: Vec<String> = diagnosis
            .findings
            .iter()
            .map(|one| {
                let mark = format!("{:?}", one.mark).to_lowercase();
                let advice = one.advice.as_deref().unwrap_or_default();
                format!("{mark} {} {} {advice}", one.about, one.what)
            })
            .collect();
        for text in *texts {
            let found = lines.iter().any(|line| line.contains(text));
            assert!(found, "{name}: no {text:?} in {lines:#?}");
        }
        let problem = texts.iter().any(|text| text.starts_with("problem"));
        assert_eq!(diagnosis.is_sound(), !problem, "{name}: {lines:#?}");
        // A token that a server repeats is not shown.
        let hidden = token.is_none_or(|token| !lines.iter().any(|line| line.contains(token)));
        assert!(hidden, "{name}: {lines:#?}");
        let clean = lines.iter().all(|line| !line.contains('\u{1b}'));
        assert!(clean, "{name}: {lines:#?}");
    }
}

#[test]
fn capabilities_are_those_that_show() {
    let diagnosis = examine(engine, None);
    let expected = [
        "health",
        "documents",
        "metrics",
        "provenance",
        "policies",
        "evaluation",
        "query",
        "yaml",
        "gzip",
    ];
    assert_eq!(diagnosis.capabilities, expected);
    assert_eq!(diagnosis.product, None);
    let absent = ["explain", "config", "status", "compile", "v0", "filters"];
    assert_eq!(diagnosis.absent, absent);
    // One probe without a trace is a failure of its endpoint, not a missing capability.
    let traces_queries = examine(
        |path, known| match path.starts_with("/v1/query") {
            true => (
                JSON,
                r#"{"result": [{"x": 1}], "explanation": []}"#.to_owned(),
            ),
            false => engine(path, known),
        },
        None,
    );
    assert!(traces_queries.capabilities.contains(&"explain"));
    assert!(!traces_queries.absent.contains(&"explain"));
    // Documents that are reported as undefined are documents.
    let denying = examine(
        |path, known| match path {
            path if path.starts_with("/v1/data/") => (MISSING, r#"{"code": "nothing"}"#.to_owned()),
            path => engine(path, known),
        },
        None,
    );
    assert!(denying.capabilities.contains(&"documents"), "{denying:#?}");
    assert!(!denying.absent.contains(&"documents"), "{denying:#?}");
    // A server with one response for everything proves no capability.
    assert_eq!(
        examine(|_, _| (JSON, "{}".to_owned()), None).capabilities,
        ["health"]
    );
    assert_eq!(examine(control, Some(KEY)).capabilities, ["control"]);
    let opa = examine(
        |path, known| match path {
            "/" => ("HTTP/1.1 200 OK", "Open Policy Agent".to_owned()),
            path => engine(path, known),
        },
        None,
    );
    assert_eq!(opa.product, Some("opa"));
}

#[test]
fn filters_are_asked_for_by_the_name_that_is_taken() {
    const REFUSED: &str = "HTTP/1.1 406 Not Acceptable\r\nContent-Type: application/json";
    let own: Answers = |path, known| {
        match path.starts_with("/v1/compile/") {
        true => (
            REFUSED,
            r#"{"code": "x", "message": "unsupported; there is application/vnd.acme.ucast.all+json"}"#
                .to_owned(),
        ),
        false => engine(path, known),
    }
    };
    assert_eq!(examine(own, None).vendor.as_deref(), Some("acme"));
    let both: Answers = |path, known| match path.starts_with("/v1/compile/") {
        true => (JSON, "{}".to_owned()),
        false => engine(path, known),
    };
    assert_eq!(examine(both, None).vendor.as_deref(), Some("engine"));
    assert_eq!(examine(engine, None).vendor, None);
}

#[tokio::test]
async fn tls_is_told_from_what_is_no_http() {
    let (port, _) = serve_tls("localhost", rcgen::IsCa::NoCa).await;
    let client = Client::new(&Connection::patient()).expect("a client");
    let base = Base::parse(&format!("http://localhost:{port}")).expect("an address");
    let server = Server::new(base, BTreeMap::new(), &[]);
    let doctor = Doctor {
        client: &client,
        server: &server,
        insecure: false,
        posts: true,
    };
    let diagnosis = doctor.examine().await;
    let last = diagnosis.findings.last().map(|last| last.what.as_str());
    assert_eq!(last, Some("it speaks TLS"), "{diagnosis:#?}");
    assert!(!diagnosis.reached);
}
