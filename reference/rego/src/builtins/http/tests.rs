//! Requests against a server in this process.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use rustls::pki_types::PrivateKeyDer;

use super::super::{Caches, Call, Failure, Session, function};
use crate::Value;
use crate::meter::{Ended, Limits, Meter};
use crate::syntax::Location;
use crate::value::from_json;

static REQUESTS: AtomicUsize = AtomicUsize::new(0);

/// Starts a server; its address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || serve(&stream.expect("a connection")));
        }
    });
    format!("http://{address}")
}

/// Answers one request with what its path asks for.
fn serve(mut stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_lowercase());
    }
    let header = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name));
    let length = header("content-length: ").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).expect("the body");
    let count = REQUESTS.fetch_add(1, Ordering::Relaxed);
    let first = lines.first().cloned().unwrap_or_default();
    let (method, rest) = first.split_once(' ').unwrap_or_default();
    let path = rest.split(' ').next().unwrap_or_default();
    let asked = header("if-none-match: ").is_some();
    let json = "Content-Type: application/json";
    let text = format!(
        "{{\"method\":\"{method}\",\"length\":{},\"count\":{count}}}",
        body.len()
    );
    let date = "Date: Thu, 01 Jan 1970 00:00:00 GMT";
    let (status, headers, text) = match path {
        "/redirect" => ("302 Found", "Location: /json".to_owned(), text),
        "/fine" => (
            "200 Fine",
            "X-Two: 1\r\nX-Two: 2".to_owned(),
            "plain".to_owned(),
        ),
        "/yaml" => (
            "200 OK",
            "Content-Type: application/yaml".to_owned(),
            "a: [1]".to_owned(),
        ),
        "/tag" if asked => (
            "304 Not Modified",
            format!("{date}\r\nX-New: 1\r\nCache-Control: max-age=0"),
            String::new(),
        ),
        "/tag" => (
            "200 OK",
            format!("{json}\r\n{date}\r\nETag: \"x\"\r\nCache-Control: max-age=0"),
            text,
        ),
        "/error" => ("500 Internal Server Error", json.to_owned(), text),
        "/slow" => {
            std::thread::sleep(Duration::from_secs(3));
            ("200 OK", json.to_owned(), text)
        }
        _ => ("200 OK", json.to_owned(), text),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{headers}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
    .ok();
}

/// What all evaluations share.
static CACHES: LazyLock<Arc<Caches>> = LazyLock::new(Arc::default);

pub(super) fn session() -> Session {
    Session {
        now: SystemTime::now(),
        answers: Default::default(),
        prepared: HashMap::new(),
        meter: Default::default(),
        runtime: None,
        allowed_hosts: None,
        caches: Some(Arc::clone(&CACHES)),
    }
}

/// Sends a request that is written in JSON, in which `HOST` is the server.
pub(super) fn send(session: &mut Session, host: &str, request: &str) -> Result<Value, Failure> {
    let request = from_json(request.replace("HOST", host).as_bytes()).expect("JSON");
    let location = Location {
        file: "p.rego".into(),
        row: 3,
        col: 1,
        offset: 0,
        length: 0,
    };
    let mut call = Call {
        location: &location,
        session,
    };
    let function = function("http.send").expect("the function");
    function(&mut call, &[request]).map(|answer| answer.expect("an answer"))
}

pub(super) fn member(value: &Value, path: &[&str]) -> String {
    let found = path.iter().try_fold(value, |value, name| value.get(name));
    found.map(ToString::to_string).unwrap_or_default()
}

#[test]
fn responses_are_shown() {
    let host = server();
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
            r#"{"method":"post","url":"HOST/json","body":{"a":1}}"#,
            "body.length",
            "7",
        ),
        (
            r#"{"method":"put","url":"HOST/json","raw_body":"ab","body":1}"#,
            "body.length",
            "2",
        ),
        (
            r#"{"method":"get","url":"HOST/redirect"}"#,
            "status_code",
            "302",
        ),
        (
            r#"{"method":"post","url":"HOST/redirect","enable_redirect":true}"#,
            "body.method",
            "\"get\"",
        ),
        (
            r#"{"method":"get","url":"HOST/error"}"#,
            "status_code",
            "500",
        ),
        (
            r#"{"method":"get","url":"http://127.0.0.1:1","raise_error":false}"#,
            "error.code",
            "\"eval_http_send_network_error\"",
        ),
        (
            r#"{"method":"get","url":"http://127.0.0.1:1","raise_error":false}"#,
            "error.message",
            r#""Get \"http://127.0.0.1:1\": dial tcp 127.0.0.1:1: connect: connection refused""#,
        ),
        (
            r#"{"method":"get","raise_error":false}"#,
            "error.message",
            r#""p.rego:3: eval_type_error: http.send: operand 1 missing required request parameters(s): {\"url\"}""#,
        ),
        (
            r#"{"method":"get","url":"HOST/slow","timeout":"50ms","raise_error":false}"#,
            "error.code",
            "\"eval_http_send_network_error\"",
        ),
    ];
    for (request, path, wanted) in table {
        let path: Vec<&str> = path.split('.').collect();
        let answer = send(&mut session(), &host, request).expect(request);
        assert_eq!(
            member(&answer, &path),
            wanted,
            "{request} answered {answer}"
        );
    }
}

#[test]
fn failures_are_raised() {
    let host = server();
    let table = [
        (
            r#"{"method":1,"url":"HOST"}"#,
            "\"method\" must be a string",
        ),
        (
            r#"{"method":"g t","url":"HOST"}"#,
            "net/http: invalid method \"G T\"",
        ),
        (
            r#"{"method":"get","url":"ftp://x"}"#,
            "Get \"ftp://x\": unsupported protocol scheme \"ftp\"",
        ),
        (
            r#"{"method":"get","url":"HOST","timeout":"x"}"#,
            "invalid timeout value \"x\": time: invalid duration \"x\"",
        ),
        (
            r#"{"method":"get","url":"HOST","headers":{"a":1}}"#,
            "invalid type for headers value \"1\"",
        ),
        (
            r#"{"method":"get","url":"HOST","tls_ca_cert":"x"}"#,
            "could not append certificates",
        ),
        (
            r#"{"method":"get","url":"HOST/slow","timeout":50000000}"#,
            "Get HOST/slow: request timed out",
        ),
    ];
    for (request, wanted) in table {
        let failure = send(&mut session(), &host, request).expect_err(request);
        assert_eq!(
            failure,
            Failure::Value(wanted.replace("HOST", &host)),
            "{request}"
        );
    }
}

#[test]
fn only_allowed_hosts_are_reached() {
    let host = server();
    let mut session = session();
    session.allowed_hosts = Some(Arc::from(["example.com".to_owned()]));
    let failure = send(&mut session, &host, r#"{"method":"get","url":"HOST/json"}"#);
    let wanted = Failure::Value("disallowed host: 127.0.0.1".to_owned());
    assert_eq!(failure.expect_err("no answer"), wanted);
}

#[test]
fn the_same_request_is_sent_once() {
    let host = server();
    let plain = r#"{"method":"get","url":"HOST/once"}"#;
    let kept = r#"{"method":"get","url":"HOST/kept","force_cache":true,"force_cache_duration_seconds":60}"#;
    let tagged = r#"{"method":"get","url":"HOST/tag","cache":true}"#;
    let count = |value: &Value| member(value, &["body", "count"]);
    for (request, beyond) in [(plain, false), (kept, true), (tagged, true)] {
        let mut first = session();
        let one = send(&mut first, &host, request).expect(request);
        let same = send(&mut first, &host, request).expect(request);
        assert_eq!(count(&one), count(&same), "{request} within an evaluation");
        let next = send(&mut session(), &host, request).expect(request);
        assert_eq!(
            count(&one) == count(&next),
            beyond,
            "{request} beyond an evaluation"
        );
    }
}

#[test]
fn a_cancelled_evaluation_does_not_wait() {
    let host = server();
    let mut session = session();
    let cancelled = Arc::new(AtomicBool::new(false));
    session.meter = Meter::new(Arc::clone(&cancelled), Limits::default());
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        cancelled.store(true, Ordering::Relaxed);
    });
    let start = Instant::now();
    let failure = send(&mut session, &host, r#"{"method":"get","url":"HOST/slow"}"#);
    assert_eq!(
        failure.expect_err("no answer"),
        Failure::Ended(Ended::Cancelled)
    );
    assert!(start.elapsed() < Duration::from_secs(2));
}

/// Starts a server with TLS; its address and its certificate.
fn tls_server() -> (String, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let own =
        rcgen::generate_simple_self_signed(["example.test".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .expect("a configuration");
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).expect("TLS");
            let mut stream = rustls::StreamOwned::new(connection, stream.expect("a connection"));
            let mut start = [0; 1024];
            if stream.read(&mut start).is_ok() {
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                stream.write_all(answer.as_bytes()).ok();
            }
        }
    });
    (format!("https://{address}"), own.cert.pem())
}

#[test]
fn certificates_are_verified() {
    let (host, pem) = tls_server();
    let pem = pem.replace('\r', "").replace('\n', "\\n");
    let table = [
        ("", "0"),
        (r#","tls_insecure_skip_verify":true"#, "200"),
        (r#","tls_ca_cert":"PEM""#, "0"),
        (
            r#","tls_ca_cert":"PEM","tls_server_name":"example.test""#,
            "200",
        ),
        (
            r#","tls_ca_cert":"PEM","headers":{"host":"example.test"}"#,
            "200",
        ),
        (r#","tls_server_name":"example.test""#, "0"),
    ];
    for (more, code) in table {
        let more = more.replace("PEM", &pem);
        let request = format!(r#"{{"method":"get","url":"HOST/","raise_error":false{more}}}"#);
        let answer = send(&mut session(), &host, &request).expect("an answer");
        assert_eq!(
            member(&answer, &["status_code"]),
            code,
            "{more} answered {answer}"
        );
    }
}
