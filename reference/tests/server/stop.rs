//! Stopping.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::frames::{DATA, GO_AWAY, Peer, get};
use crate::service::Server;
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

/// Asks on one connection after the other until nobody listens; returns how many were answered.
async fn ask_until_refused(address: SocketAddr, request: &str) -> usize {
    let mut answered = 0;
    loop {
        let mut stream = match TcpStream::connect(address).await {
            Ok(stream) => stream,
            Err(failure) if failure.kind() == ErrorKind::ConnectionRefused => return answered,
            Err(failure) => panic!("after {answered}: cannot connect: {failure}"),
        };
        // As many requests as the server takes on the connection.
        loop {
            let mut bytes = vec![0; 4096];
            let asked = async {
                stream.write_all(request.as_bytes()).await?;
                stream.read(&mut bytes).await
            };
            let count = match asked.await {
                Ok(count) => count,
                Err(failure) => panic!("after {answered}: {failure}"),
            };
            bytes.truncate(count);
            let answer = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
            assert!(
                answer.starts_with("http/1.1 200 "),
                "after {answered}: `{answer}`"
            );
            answered += 1;
            if answer.contains("connection: close") {
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_connection_is_reset() {
    for request in [GET, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"] {
        for _ in 0..3 {
            let running = engine(&[]).await;
            let Some(address) = running.engine else {
                panic!("no engine is listening");
            };
            let clients: Vec<_> = (0..8)
                .map(|_| tokio::spawn(ask_until_refused(address, request)))
                .collect();
            tokio::time::sleep(Duration::from_millis(150)).await;
            running.shutdown().await;
            for client in clients {
                match client.await {
                    Ok(answered) => assert!(answered > 0),
                    Err(failure) => panic!("{failure}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn streams_end_before_their_connection_does() {
    let server = Server::start(&[]).await;
    let mut peer = Peer::begin(server.connect().await, &[]).await;
    peer.send(&get(1, "/quick")).await;
    peer.until(DATA).await;
    let stopping = tokio::spawn(server.listening.shutdown());
    let arrived = peer.until(GO_AWAY).await;
    assert_eq!(
        arrived.last().map(|last| last.0),
        Some(GO_AWAY),
        "{arrived:?}"
    );
    // What was on its way is answered.
    peer.send(&get(3, "/quick")).await;
    let arrived = peer.until(DATA).await;
    assert_eq!(arrived.last(), Some(&(DATA, 3, 4)), "{arrived:?}");
    drop(peer);
    assert!(stopping.await.is_ok());
}
