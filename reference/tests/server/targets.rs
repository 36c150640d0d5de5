//! Request targets with bytes that are invalid in URIs: these count as percent-encoded.

use std::time::Duration;

use crate::wire::{all, connect, engine, send, send_request};

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n")
}

fn closing(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

/// Returns the status of each response on a connection.
fn statuses(answers: &str) -> Vec<&str> {
    let answers = answers.split("HTTP/1.1 ").skip(1);
    answers
        .map(|answer| answer.get(..3).unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn raw_bytes_are_served_like_their_escapes() {
    let running = engine(&[]).await;
    for (raw, escaped, status) in [
        (
            r#"/v1/data/a?input={"b":1}"#,
            "/v1/data/a?input=%7B%22b%22%3A1%7D",
            "200",
        ),
        (
            r#"/v1/query?q=x="<a>""#,
            "/v1/query?q=x%3D%22%3Ca%3E%22",
            "200",
        ),
        ("/v1/data/`", "/v1/data/%60", "200"),
        ("/v1/data/é?x=é", "/v1/data/%C3%A9?x=%C3%A9", "200"),
        ("/health#x", "/health%23x", "404"),
        ("/health#", "/health%23", "404"),
        ("/health?a#b", "/health?a%23b", "200"),
        ("http://x/health#x", "http://x/health%23x", "404"),
        ("/health#/v1/data", "/health%23/v1/data", "404"),
    ] {
        let answer = send_request(&running, &closing(raw)).await;
        assert_eq!(statuses(&answer), [status], "{answer}");
        let same = send_request(&running, &closing(escaped)).await;
        assert_eq!(body(&answer), body(&same), "{raw}");
    }
    running.shutdown().await;
}

/// After a complete request of any kind, invalid bytes in the next target are accepted.
#[tokio::test]
async fn raw_bytes_are_served_behind_other_requests() {
    let running = engine(&[]).await;
    let put = |path: &str, body: &str| {
        let length = body.len();
        format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    let target = put("/v1/data/a", r##""GET /\" HTTP/1.1\r\n#""##);
    let empty_lines = put("/v1/data/b", "\r\n\r\n1\r\n\r\n");
    let chunked = "PUT /v1/data/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
                   5\r\n\r\n\r\n1\r\n6\r\n\r\n\r\n\r\n\r\n0\r\n\r\n";
    let raw = get("/v1/data?input={\"a\":\"#\"}");
    let text = [
        target.as_str(),
        &raw,
        &empty_lines,
        &raw,
        chunked,
        &raw,
        &raw,
        &closing("/health#"),
    ]
    .concat();
    let expected = ["204", "200", "204", "200", "204", "200", "200", "404"];
    let answers = send_request(&running, &text).await;
    assert_eq!(statuses(&answers), expected, "{answers}");
    let mut stream = connect(&running).await;
    for piece in text.as_bytes().chunks(7) {
        send(&mut stream, &String::from_utf8_lossy(piece)).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let answers = all(&mut stream).await;
    assert_eq!(statuses(&answers), expected, "{answers}");
    let stored = send_request(&running, &closing("/v1/data/a")).await;
    assert!(stored.contains(r##""GET /\" HTTP/1.1\r\n#""##), "{stored}");
    running.shutdown().await;
}

/// If a chunked body is not read to its end, the connection is closed after the response.
#[tokio::test]
async fn a_connection_ends_behind_chunks_that_are_not_read() {
    let running = engine(&["--set", "server.decoding.max_length=4"]).await;
    let chunked = "PUT /v1/data/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
                   8\r\n12345678\r\n0\r\n\r\n";
    let answers = send_request(&running, &format!("{chunked}{}", get("/health"))).await;
    assert_eq!(statuses(&answers), ["400"], "{answers}");
    running.shutdown().await;
}
