//! Connections beyond the maximum number.

use std::net::SocketAddr;
use std::time::Duration;

use reference::Running;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::wire::{
    GET, HANG_LIMIT, all, assert_error, connect, connect_as, engine, send, send_request, until_read,
};

const KEPT: &str = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
const DATA: &str = "GET /v1/data HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const SLOW_BODY: &str = "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1";
const SLOW_HEAD: &str = "PUT /v1/data/a HTTP/1.1\r\nHost:";

/// Opens a connection and sends bytes; returns when the server has read them.
async fn busy(running: &Running, text: &str) -> TcpStream {
    let mut stream = connect(running).await;
    send(&mut stream, text).await;
    until_read(&stream).await;
    stream
}

/// Starts an engine that accepts at most `places` connections, all of them possibly from one
/// address.
async fn crowded(places: &str) -> Running {
    let flags = [
        "--max-connections",
        places,
        "--max-connections-per-address",
        places,
    ];
    engine(&flags).await
}

/// Returns true if the server closes a connection.
async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    let read = stream.read_to_end(&mut rest);
    tokio::time::timeout(HANG_LIMIT, read).await.is_ok()
}

/// Sends a request from a given loopback address.
async fn send_request_from(from: [u8; 4], to: SocketAddr, text: &str) -> String {
    let from = SocketAddr::from((from, 0));
    let mut stream = connect_as(to, |socket| socket.bind(from)).await;
    send(&mut stream, text).await;
    all(&mut stream).await
}

#[tokio::test]
async fn the_longest_idle_makes_room() {
    let running = crowded("3").await;
    let mut keep_alive = busy(&running, KEPT).await;
    let mut used_later = busy(&running, KEPT).await;
    let mut slow = busy(&running, SLOW_HEAD).await;
    send(&mut used_later, KEPT).await;
    until_read(&used_later).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    // The server first closes connections without a request, then those that were idle for longest.
    let mut first = busy(&running, SLOW_BODY).await;
    assert!(is_closed(&mut slow).await);
    let mut second = busy(&running, SLOW_BODY).await;
    assert!(is_closed(&mut keep_alive).await);
    send(&mut used_later, GET).await;
    let answer = all(&mut used_later).await;
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 3, "{answer}");
    for stream in [&mut first, &mut second] {
        send(stream, "23456789").await;
        let mut answer = [0; 12];
        assert!(stream.read_exact(&mut answer).await.is_ok());
        assert_eq!(answer, *b"HTTP/1.1 204");
    }
    running.shutdown().await;
}

#[tokio::test]
async fn further_requests_wait_for_their_turn() {
    let running = crowded("2").await;
    let first = busy(&running, SLOW_BODY).await;
    let second = busy(&running, SLOW_BODY).await;
    let mut third = busy(&running, DATA).await;
    let mut fourth = busy(&running, DATA).await;
    for waiting in [&mut third, &mut fourth] {
        let early = tokio::time::timeout(Duration::from_millis(200), waiting.readable()).await;
        assert!(early.is_err(), "the connection did not wait");
    }
    let answer = send_request(&running, GET).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(first);
    for mut waiting in [third, fourth] {
        let answer = all(&mut waiting).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    drop(second);
    running.shutdown().await;
}

#[tokio::test]
async fn an_address_has_a_share() {
    let running = engine(&["--max-connections", "4"]).await;
    let Some(address) = running.engine else {
        panic!("no engine is listening");
    };
    let first = busy(&running, SLOW_BODY).await;
    let second = busy(&running, SLOW_BODY).await;
    let third = busy(&running, DATA).await;
    let early = tokio::time::timeout(Duration::from_millis(200), third.readable()).await;
    assert!(early.is_err(), "the share is not half of all");
    let answer = send_request_from([127, 0, 0, 2], address, DATA).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop((first, second, third));
    running.shutdown().await;

    let flags = [
        "--max-connections",
        "4",
        "--max-connections-per-address",
        "3",
    ];
    let running = engine(&flags).await;
    let first = busy(&running, SLOW_BODY).await;
    let second = busy(&running, SLOW_BODY).await;
    let answer = send_request(&running, DATA).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop((first, second));
    running.shutdown().await;
}

#[tokio::test]
async fn health_is_told_in_every_crowd() {
    for text in [
        "",
        SLOW_HEAD,
        KEPT,
        SLOW_BODY,
        DATA,
        "PRI * HTTP/2.0\r\n\r\n",
    ] {
        let running = engine(&["--max-connections", "16"]).await;
        let mut crowd = Vec::new();
        for _ in 0..8 {
            crowd.push(busy(&running, SLOW_BODY).await);
        }
        for _ in 0..100 {
            let mut stream = connect(&running).await;
            send(&mut stream, text).await;
            crowd.push(stream);
        }
        for request in [GET, &GET.replace("health", "metrics")] {
            let answer = send_request(&running, request).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "`{text}`: {answer}");
        }
        drop(crowd);
        running.shutdown().await;
    }
}

#[tokio::test]
async fn who_waits_in_vain_is_told_so() {
    let running = crowded("2").await;
    let first = busy(&running, SLOW_BODY).await;
    let second = busy(&running, SLOW_BODY).await;
    let mut waiting = Vec::new();
    for _ in 0..9 {
        waiting.push(busy(&running, DATA).await);
    }
    // The reserve has eight slots; the ninth connection took the slot of the newest one.
    let Some(newest) = waiting.get_mut(7) else {
        panic!("nobody waits");
    };
    let answer = all(newest).await;
    assert_error(&answer, "503", "the newest");
    assert!(
        answer.to_ascii_lowercase().contains("retry-after: 1"),
        "{answer}"
    );
    drop((first, second, waiting));
    running.shutdown().await;
}
