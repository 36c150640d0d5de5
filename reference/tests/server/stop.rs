//! Stopping.

use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use crate::wire::{GET, all, ask, connect, engine, send};

#[tokio::test]
async fn open_requests_end_before_the_server_does() {
    let running = engine(&[]).await;
    let mut open = connect(&running).await;
    let head = "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n1";
    send(&mut open, head).await;
    // The answer to another request shows that the server has taken up what came before.
    ask(&running, GET).await;
    let address = running.engine;
    let stopping = tokio::spawn(running.shutdown());
    while let Some(address) = address
        && TcpStream::connect(address).await.is_ok()
    {
        tokio::task::yield_now().await;
    }
    assert!(!stopping.is_finished());
    send(&mut open, "23").await;
    let answer = all(&mut open).await;
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    assert!(stopping.await.is_ok());
}

#[tokio::test]
async fn the_grace_period_ends() {
    let running = engine(&["--shutdown-grace-period", "1"]).await;
    let mut open = connect(&running).await;
    send(
        &mut open,
        "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n1",
    )
    .await;
    ask(&running, GET).await;
    let begun = Instant::now();
    running.shutdown().await;
    assert!(begun.elapsed() >= Duration::from_millis(900));
    assert_eq!(all(&mut open).await, "");
}

#[tokio::test]
async fn idle_connections_do_not_hold_the_server() {
    let running = engine(&["--shutdown-grace-period", "60"]).await;
    let mut idle = connect(&running).await;
    send(&mut idle, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(idle.readable().await.is_ok());
    let begun = Instant::now();
    running.shutdown().await;
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn the_wait_period_goes_on_as_before() {
    let running = engine(&["--shutdown-wait-period", "1"]).await;
    let mut early = connect(&running).await;
    let stopping = tokio::spawn(running.shutdown());
    send(&mut early, GET).await;
    let answer = all(&mut early).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(stopping.await.is_ok());
}
