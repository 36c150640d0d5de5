//! How requests reach servers: compressed, again after failures, through sockets of the file
//! system, with certificates of their own.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use rustls::pki_types::PrivateKeyDer;

use super::super::Failure;
use super::client::MAX_BODY;
use super::tests::{member, send, session};

/// Reads the head of a request and writes a response; what was read.
fn answer(mut stream: impl Read + Write, headers: &str, body: &[u8]) -> String {
    let mut head = String::new();
    let mut reader = BufReader::new(&mut stream);
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            break;
        }
    }
    let length = body.len();
    let start = format!(
        "HTTP/1.1 200 OK\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(start.as_bytes()).ok();
    stream.write_all(body).ok();
    stream.flush().ok();
    head
}

/// Starts a server that closes so many connections without an answer and then always answers.
fn server(closed: usize, headers: &'static str, body: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for (at, stream) in listener.incoming().enumerate() {
            let stream = stream.expect("a connection");
            if at >= closed {
                answer(stream, headers, &body);
            }
        }
    });
    format!("http://{address}")
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("compressed");
    encoder.finish().expect("compressed")
}

#[test]
fn what_comes_compressed_is_unpacked_unless_the_policy_asked_for_it() {
    let headers = "Content-Encoding: gzip\r\nContent-Type: application/json\r\n";
    let host = server(0, headers, packed(b"{\"a\":1}"));
    let plain = send(&mut session(), &host, r#"{"method":"get","url":"HOST"}"#);
    let plain = plain.expect("an answer");
    assert_eq!(member(&plain, &["body", "a"]), "1");
    assert_eq!(member(&plain, &["headers", "content-encoding"]), "");
    let asked = r#"{"method":"get","url":"HOST","headers":{"accept-encoding":"gzip"}}"#;
    let kept = send(&mut session(), &host, asked).expect("an answer");
    assert_eq!(
        member(&kept, &["headers", "content-encoding"]),
        "[\"gzip\"]"
    );
    assert_eq!(member(&kept, &["body"]), "null");
}

#[test]
fn what_is_too_long_once_unpacked_is_refused() {
    let host = server(
        0,
        "Content-Encoding: gzip\r\n",
        packed(&vec![b' '; MAX_BODY + 1]),
    );
    let failure = send(&mut session(), &host, r#"{"method":"get","url":"HOST"}"#);
    let wanted = format!("Get \"{host}\": the response is longer than {MAX_BODY} bytes");
    assert_eq!(failure.expect_err("no answer"), Failure::Value(wanted));
}

#[test]
fn failed_requests_are_sent_again_as_often_as_asked() {
    for (closed, attempts, code) in [(1, 0, "0"), (2, 1, "0"), (1, 1, "200"), (2, 2, "200")] {
        let host = server(closed, "", Vec::new());
        let request = format!(
            r#"{{"method":"get","url":"HOST","raise_error":false,"max_retry_attempts":{attempts}}}"#
        );
        let answer = send(&mut session(), &host, &request).expect("an answer");
        let shown = format!("{closed} closed, {attempts} more attempts: {answer}");
        assert_eq!(member(&answer, &["status_code"]), code, "{shown}");
    }
}

#[cfg(unix)]
#[test]
fn sockets_of_the_file_system_are_reached() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    let seen = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        answer(stream, "", b"here")
    });
    let path = path.to_string_lossy().replace('/', "%2F");
    let request = format!(r#"{{"method":"get","url":"unix://localhost/a/b?socket={path}&c=d"}}"#);
    let answer = send(&mut session(), "", &request).expect("an answer");
    assert_eq!(member(&answer, &["raw_body"]), "\"here\"");
    let head = seen.join().expect("a request");
    assert!(head.starts_with("GET /a/b?c=d HTTP/1.1\r\n"), "{head}");
}

/// Starts a server that wants a certificate of an authority; its address.
fn strict_server(authority: &rcgen::CertifiedKey<rcgen::KeyPair>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let key = PrivateKeyDer::try_from(authority.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(authority.cert.der().clone())
        .expect("an authority");
    let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(
        Arc::new(roots),
        Arc::clone(&provider),
    );
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier.build().expect("a verifier"))
        .with_single_cert(vec![authority.cert.der().clone()], key)
        .expect("a configuration");
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).expect("TLS");
            let stream = stream.expect("a connection");
            answer(rustls::StreamOwned::new(connection, stream), "", b"");
        }
    });
    format!("https://{address}")
}

#[test]
fn own_certificates_are_shown_to_the_server() {
    let names = ["example.test".to_owned()];
    let own = rcgen::generate_simple_self_signed(names.clone()).expect("a certificate");
    let other = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let host = strict_server(&own);
    for (shown, code) in [(None, "0"), (Some(&other), "0"), (Some(&own), "200")] {
        let mut request = serde_json::json!({
            "method": "get",
            "url": host,
            "raise_error": false,
            "tls_insecure_skip_verify": true,
        });
        if let (Some(shown), Some(request)) = (shown, request.as_object_mut()) {
            request.insert("tls_client_cert".to_owned(), shown.cert.pem().into());
            request.insert(
                "tls_client_key".to_owned(),
                shown.signing_key.serialize_pem().into(),
            );
        }
        let answer = send(&mut session(), "", &request.to_string()).expect("an answer");
        assert_eq!(member(&answer, &["status_code"]), code, "{answer}");
    }
}
