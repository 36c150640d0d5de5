//! Tests of what policies access through the host: HTTP servers, and name resolution.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions, Value};
use rstest::rstest;

use super::SystemHost;
use crate::HANG_LIMIT;

mod certificates;

type Done = Result<(), Box<dyn Error>>;

const POLICY: &str = "package p\n\nsent := http.send(input)\n\nfound := net.lookup_ip_addr(input)\n\ntold := opa.runtime()\n";

/// Evaluates a rule of the policy, and returns its value or error. In the input, which is JSON,
/// `HOST` is replaced by the server.
fn evaluate_rule(
    rule: &str,
    host: &str,
    input: &str,
    cancelled: &Arc<AtomicBool>,
) -> Result<Value, String> {
    let to_message = |error: &dyn std::fmt::Display| error.to_string();
    let module = Module::parse("p.rego", POLICY).map_err(|error| to_message(&error))?;
    let compiler = Compiler::new(&Policy::default()).put("p.rego", module);
    let policy = compiler.compile().map_err(|error| to_message(&error))?;
    let query = format!("x := data.p.{rule}");
    let query = Query::parse(&policy, &query, &QueryOptions::default());
    let query = query.map_err(|error| to_message(&error))?;
    let documents = from_json(b"{}").map_err(|error| to_message(&error))?;
    let input =
        from_json(input.replace("HOST", host).as_bytes()).map_err(|error| to_message(&error))?;
    let runtime = Value::object([("env", Value::from("told"))]);
    let system = SystemHost::telling(runtime);
    let mut evaluation = Evaluation {
        host: Some(&system),
        input: Some(input),
        strict: true,
        cancelled: Some(Arc::clone(cancelled)),
        ..Evaluation::new(&documents)
    };
    let answers = query.evaluate(&mut evaluation);
    let answers = answers.map_err(|failure| failure.message)?;
    let answer = answers.first().ok_or("undefined")?;
    answer.to_value().get("x").cloned().ok_or("no x".to_owned())
}

/// Sends a request, with a long timeout unless it specifies one, and returns the response.
fn sent(host: &str, request: &str) -> Result<Value, String> {
    let request = match request.contains("timeout") {
        true => request.to_owned(),
        false => request.replacen('{', r#"{"timeout":"1h","#, 1),
    };
    evaluate_rule("sent", host, &request, &Arc::default())
}

/// A name that is too long to exist, so that no network is queried for it.
fn nobody() -> String {
    "a".repeat(300)
}

/// String form of the value at a dotted path of members.
fn member(value: &Value, path: &str) -> String {
    let mut path = path.split('.');
    let found = path.try_fold(value, |value, name| value.get(name));
    found.map(ToString::to_string).unwrap_or_default()
}

/// Reads the head of a request and sends a response; returns the head.
fn answer(mut stream: impl Read + Write, headers: &str, body: &[u8]) -> String {
    let mut head = String::new();
    let mut reader = BufReader::new(&mut stream);
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            break;
        }
    }
    if head.starts_with("GET /slow ") {
        // Longer than the timeout of any test.
        std::thread::sleep(Duration::from_secs(3600));
    }
    let length = body.len();
    let start = format!(
        "HTTP/1.1 200 Fine\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(start.as_bytes()).ok();
    stream.write_all(body).ok();
    stream.flush().ok();
    head
}

/// Starts a server that closes `closed` connections without a response and then always responds.
fn server(closed: usize, headers: &'static str, body: Vec<u8>) -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for (at, stream) in listener.incoming().flatten().enumerate() {
            let body = body.clone();
            if at >= closed {
                std::thread::spawn(move || answer(stream, headers, &body));
            }
        }
    });
    Ok(format!("http://{address}"))
}

#[test]
fn responses_arrive_as_they_are_sent() -> Done {
    let headers = "Content-Type: application/json\r\nX-Two: 1\r\nX-Two: 2\r\n";
    let host = server(0, headers, b"{\"a\":1}".to_vec())?;
    let found = sent(&host, r#"{"method":"get","url":"HOST"}"#)?;
    for (path, expected) in [
        ("status", "\"200 Fine\""),
        ("body.a", "1"),
        ("headers.x-two", "[\"1\",\"2\"]"),
    ] {
        assert_eq!(member(&found, path), expected, "{found}");
    }
    Ok(())
}

#[test]
fn responses_may_come_compressed() -> Done {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"{\"a\":1}")?;
    let headers = "Content-Encoding: gzip\r\nContent-Type: application/json\r\n";
    let host = server(0, headers, encoder.finish()?)?;
    let decompressed = sent(&host, r#"{"method":"get","url":"HOST"}"#)?;
    assert_eq!(member(&decompressed, "body.a"), "1");
    let request = r#"{"method":"get","url":"HOST","headers":{"accept-encoding":"gzip"}}"#;
    let compressed = sent(&host, request)?;
    assert_eq!(
        member(&compressed, "headers.content-encoding"),
        "[\"gzip\"]"
    );
    Ok(())
}

#[test]
fn what_is_too_long_is_refused() -> Done {
    let most = 32 << 20;
    let host = server(0, "", vec![b' '; most + 1])?;
    let expected = format!("http.send: Get \"{host}\": the response is longer than {most} bytes");
    let found = sent(&host, r#"{"method":"get","url":"HOST"}"#);
    assert_eq!(found, Err(expected));
    Ok(())
}

#[test]
fn servers_may_be_absent_or_slow() -> Done {
    let host = server(0, "", Vec::new())?;
    for (request, expected) in [
        (
            r#"{"method":"get","url":"http://127.0.0.1:1"}"#,
            "Get \"http://127.0.0.1:1\": dial tcp 127.0.0.1:1: connect: connection refused",
        ),
        (
            r#"{"method":"get","url":"https://127.0.0.1:1","tls_server_name":"a.test"}"#,
            "Get \"https://127.0.0.1:1\": dial tcp 127.0.0.1:1: connect: connection refused",
        ),
        (
            r#"{"method":"get","url":"http://NOBODY"}"#,
            "Get \"http://NOBODY\": dial tcp: lookup NOBODY: no such host",
        ),
        (
            r#"{"method":"get","url":"https://NOBODY","tls_server_name":"a.test"}"#,
            "Get \"https://NOBODY\": dial tcp: lookup NOBODY: no such host",
        ),
        (
            r#"{"method":"get","url":"HOST/slow","timeout":"50ms"}"#,
            "Get HOST/slow: request timed out",
        ),
    ] {
        let named = |text: &str| text.replace("HOST", &host).replace("NOBODY", &nobody());
        let expected = format!("http.send: {}", named(expected));
        assert_eq!(sent(&host, &named(request)), Err(expected), "{request}");
    }
    Ok(())
}

#[rstest]
#[case::no_more_attempts(1, 0, "0")]
#[case::too_few_attempts(2, 1, "0")]
#[case::one_more_attempt(1, 1, "200")]
#[case::two_more_attempts(2, 2, "200")]
fn failed_requests_are_sent_again_as_often_as_asked(
    #[case] closed: usize,
    #[case] attempts: usize,
    #[case] code: &str,
) -> Done {
    let host = server(closed, "", Vec::new())?;
    let request = format!(
        r#"{{"method":"get","url":"HOST","raise_error":false,"max_retry_attempts":{attempts}}}"#
    );
    let found = sent(&host, &request)?;
    let description = format!("{closed} closed, {attempts} more attempts: {found}");
    assert_eq!(member(&found, "status_code"), code, "{description}");
    Ok(())
}

#[test]
fn a_cancelled_evaluation_does_not_wait() -> Done {
    let host = server(0, "", Vec::new())?;
    let cancelled = Arc::new(AtomicBool::new(false));
    let cancels = Arc::clone(&cancelled);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        cancels.store(true, Ordering::Relaxed);
    });
    let (sends, found) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let request = r#"{"method":"get","url":"HOST/slow","timeout":"1h"}"#;
        sends.send(evaluate_rule("sent", &host, request, &cancelled))
    });
    let found = found.recv_timeout(HANG_LIMIT)?;
    assert_eq!(found, Err("caller cancelled query execution".to_owned()));
    Ok(())
}

#[cfg(unix)]
#[test]
fn sockets_of_the_file_system_are_reached() -> Done {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path)?;
    let seen = std::thread::spawn(move || {
        let accepted = listener.accept();
        accepted.map(|(stream, _)| answer(stream, "", b"here"))
    });
    let path = path.to_string_lossy().replace('/', "%2F");
    let request = format!(r#"{{"method":"get","url":"unix://localhost/a/b?socket={path}&c=d"}}"#);
    let found = sent("", &request)?;
    assert_eq!(member(&found, "raw_body"), "\"here\"");
    let head = seen.join().map_err(|_| "the server panicked")??;
    assert!(head.starts_with("GET /a/b?c=d HTTP/1.1\r\n"), "{head}");
    Ok(())
}

#[test]
fn names_have_the_addresses_that_the_system_knows() {
    let found = |name: &str| evaluate_rule("found", "", &format!("\"{name}\""), &Arc::default());
    let localhost = found("localhost").map(|addresses| addresses.to_string());
    assert!(
        localhost
            .is_ok_and(|localhost| localhost.contains("127.0.0.1") || localhost.contains("::1"))
    );
    let nobody = nobody();
    let expected = format!("net.lookup_ip_addr: lookup {nobody}: no such host");
    assert_eq!(found(&nobody), Err(expected));
}

#[test]
fn policies_are_told_what_they_may_know() -> Done {
    let runtime = evaluate_rule("told", "", "null", &Arc::default())?;
    assert_eq!(runtime.to_string(), r#"{"env":"told"}"#);
    Ok(())
}
