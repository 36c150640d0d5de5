//! Invalid requests: the responses have the same error objects as all others.

use crate::wire::{assert_error, engine, parts, send_request};

#[tokio::test]
async fn refusals_are_error_objects_and_end_the_connection() {
    let running = engine(&[]).await;
    let long_head = format!(
        "GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n",
        "x".repeat(1 << 20)
    );
    let many = format!(
        "GET / HTTP/1.1\r\nHost: x\r\n{}\r\n",
        "X: y\r\n".repeat(1000)
    );
    let long_target = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(100_000));
    let get = |target: &str, headers: &str| format!("GET {target} HTTP/1.1\r\n{headers}\r\n");
    let health = get("/health", "Host: x\r\n");
    for (text, status) in [
        ("nonsense\r\n\r\n", "400"),
        ("GET /a b HTTP/1.1\r\n\r\n", "400"),
        ("GET /health HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n", "400"),
        (
            "GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            "400",
        ),
        (&get("/health", ""), "400"),
        (&get("/health", "Host: a\r\nHost: b\r\n"), "400"),
        (
            &get("/health", "Host: x\r\nTransfer-Encoding: gzip, chunked\r\n"),
            "501",
        ),
        (&get("/health", "Host: x\r\nExpect: 200-maybe\r\n"), "417"),
        (&long_head, "431"),
        (&many, "431"),
        (&long_target, "414"),
    ] {
        let start: String = text.chars().take(60).collect();
        // The server closes the connection, and does not respond to the following request.
        let answer = send_request(&running, &format!("{text}{health}")).await;
        assert_error(&answer, status, &start);
        assert!(
            parts(&answer).2,
            "`{start}` leaves the connection open: {answer}"
        );
        assert_eq!(
            answer.matches("HTTP/1.1 ").count(),
            1,
            "`{start}`: {answer}"
        );
        // Requests before the invalid one get their responses, with or without a body.
        let empty = "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1";
        let answer = send_request(&running, &format!("{health}{empty}{text}")).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "`{start}`: {answer}");
        let last = answer.rfind("HTTP/1.1 ").and_then(|at| answer.get(at..));
        assert_error(last.unwrap_or_default(), status, &start);
        assert_eq!(
            answer.matches("HTTP/1.1 ").count(),
            3,
            "`{start}`: {answer}"
        );
    }
    running.shutdown().await;
}

#[tokio::test]
async fn slow_requests_are_told_so() {
    // The timeout is long enough for the client to connect on a busy machine.
    let slow_heads = engine(&["--header-timeout", "2s"]).await;
    let slow_bodies = engine(&["--body-timeout", "300ms"]).await;
    let head = "GET /health HTTP/1.1\r\nHost:";
    let body = "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n123";
    let complete = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    let (slow, word, late, nothing, idle) = tokio::join!(
        send_request(&slow_heads, head),
        send_request(&slow_heads, "GET"),
        send_request(&slow_bodies, body),
        send_request(&slow_heads, ""),
        send_request(&slow_heads, complete),
    );
    for (answer, text) in [(slow, head), (word, "GET"), (late, body)] {
        assert_error(&answer, "408", text);
        assert!(parts(&answer).2, "{answer}");
    }
    // A connection on which nothing was sent is closed without a response.
    assert_eq!(nothing, "");
    assert_eq!(idle.matches("HTTP/1.1 ").count(), 1, "{idle}");
    slow_heads.shutdown().await;
    slow_bodies.shutdown().await;
}
