//! Limits on slow clients, on many or large requests, and on invalid ones.

use std::time::{Duration, Instant};

use crate::service::Server;
use crate::wire::{GET, all, engine, send, send_request};

#[tokio::test]
async fn a_request_is_answered() {
    let running = engine(&[]).await;
    let answer = send_request(&running, GET).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n{}\n"), "{answer}");
    let put = "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{\"\r\n5\r\nx\":1}\r\n0\r\n\r\n";
    let answer = send_request(
        &running,
        &format!("{put}HEAD /v1/data/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
    )
    .await;
    assert!(
        answer.starts_with("HTTP/1.1 204 No Content\r\n"),
        "{answer}"
    );
    assert!(
        answer.contains("\r\n\r\nHTTP/1.1 405 Method Not Allowed\r\n"),
        "{answer}"
    );
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    running.shutdown().await;
}

#[tokio::test]
async fn what_is_no_request_is_refused() {
    let running = engine(&[]).await;
    let long_head = format!(
        "GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n",
        "x".repeat(2 << 20)
    );
    let many = format!(
        "GET / HTTP/1.1\r\nHost: x\r\n{}\r\n",
        "X: y\r\n".repeat(1000)
    );
    for (text, status) in [
        ("nonsense\r\n\r\n", "400"),
        ("GET / HTTP/9.9\r\n\r\n", ""),
        ("GET /a b HTTP/1.1\r\n\r\n", "400"),
        (
            "PUT /v1/data/a HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "400",
        ),
        (
            "PUT /v1/data/a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
            "400",
        ),
        (
            "PUT /v1/data/a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            "400",
        ),
        ("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n", "400"),
        (
            "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
            "400",
        ),
        ("GET /health HTTP/1.0\r\n\r\n", "200"),
        (
            "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
            "501",
        ),
        (&long_head, "431"),
        (&many, "431"),
    ] {
        let answer = send_request(&running, text).await;
        let line = answer.lines().next().unwrap_or_default();
        assert!(
            line.contains(status),
            "{status}: {line} for {}",
            text.get(..30).unwrap_or(text)
        );
    }
    let answer = send_request(&running, GET).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    running.shutdown().await;
}

#[tokio::test]
async fn slow_clients_are_let_go() {
    let slow_heads = engine(&["--header-timeout", "300ms"]).await;
    let slow_bodies = engine(&["--body-timeout", "300ms"]).await;
    for (running, text, answer) in [
        (&slow_heads, "", ""),
        (&slow_heads, "PRI * HTTP/2", ""),
        (&slow_heads, "GET /health HTTP/1.1\r\nHost:", ""),
        (
            &slow_bodies,
            "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n123",
            "HTTP/1.1 408 ",
        ),
        (
            &slow_bodies,
            "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n1",
            "HTTP/1.1 408 ",
        ),
    ] {
        let started = Instant::now();
        let answered = send_request(running, text).await;
        assert!(answered.starts_with(answer), "`{text}`: {answered}");
        assert!(started.elapsed() >= Duration::from_millis(250), "`{text}`");
    }
    slow_heads.shutdown().await;
    slow_bodies.shutdown().await;
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let running = engine(&["--set", "server.decoding.max_length=10"]).await;
    for (head, body, status) in [
        ("Content-Length: 10", "1234567890", "204"),
        ("Content-Length: 11", "12345678901", "400"),
        ("Content-Length: 99999999999999", "", "400"),
        ("Expect: 100-continue\r\nContent-Length: 11", "", "400"),
        (
            "Transfer-Encoding: chunked",
            "6\r\n123456\r\n6\r\n123456\r\n",
            "400",
        ),
    ] {
        let text = format!(
            "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n\r\n{body}"
        );
        let answer = send_request(&running, &text).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{head}: {answer}"
        );
        assert_eq!(
            answer.contains("request body too large"),
            status == "400",
            "{head}: {answer}"
        );
    }
    running.shutdown().await;
}

#[tokio::test]
async fn a_panic_is_an_answer() {
    let server = Server::start(&[]).await;
    let mut stream = server.connect().await;
    let get = |path: &str, more: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n");
    let requests = get("/defect", "") + &get("/quick", "Connection: close\r\n");
    send(&mut stream, &requests).await;
    let answer = all(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
    assert!(answer.ends_with("fine"), "{answer}");
    server.listening.shutdown().await;
}
