//! Graceful shutdown.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::frames::{DATA, GO_AWAY, Peer, get};
use crate::service::Server;
use crate::wire::{GET, all, connect, ending, engine, send, send_request, until};

#[tokio::test]
async fn open_requests_end_before_the_server_does() {
    let running = engine(&["--shutdown-grace-period", "3600"]).await;
    let mut open = connect(&running).await;
    let head = "PUT /v1/data/a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n1";
    send(&mut open, head).await;
    // The response to another request proves that the server has read the first one.
    send_request(&running, GET).await;
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
    send_request(&running, GET).await;
    let started = Instant::now();
    running.shutdown().await;
    assert!(started.elapsed() >= Duration::from_millis(900));
    assert_eq!(all(&mut open).await, "");
}

#[tokio::test]
async fn idle_connections_do_not_hold_the_server() {
    let running = engine(&["--shutdown-grace-period", "3600"]).await;
    let mut idle = connect(&running).await;
    send(&mut idle, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(idle.readable().await.is_ok());
    ending("an idle connection", running.shutdown()).await;
}

#[tokio::test]
async fn the_wait_period_goes_on_as_before() {
    let running = engine(&["--shutdown-wait-period", "2"]).await;
    let mut early = connect(&running).await;
    let stopping = tokio::spawn(running.shutdown());
    send(&mut early, GET).await;
    let answer = all(&mut early).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(stopping.await.is_ok());
}

/// Maximum pause between two requests of a client for which the shutdown must not lose a request.
/// The server waits longer than this for the next request of a connection.
const PROMPT: Duration = Duration::from_millis(100);

/// Sends requests on consecutive connections until they are refused, and counts the responses.
async fn send_requests_until_refused(
    address: SocketAddr,
    request: &str,
    answered: Arc<AtomicUsize>,
) {
    loop {
        // The server starts to wait for the next request at this time or later.
        let mut since = Instant::now();
        let mut stream = match TcpStream::connect(address).await {
            Ok(stream) => stream,
            Err(failure) if failure.kind() == ErrorKind::ConnectionRefused => return,
            Err(failure) => panic!("after {answered:?}: cannot connect: {failure}"),
        };
        // Sends requests on the connection until the server closes it.
        loop {
            let started = Instant::now();
            let mut bytes = vec![0; 4096];
            let sent = stream.write_all(request.as_bytes()).await;
            let took = since.elapsed();
            let read = match sent {
                Ok(()) => ending("an answer", stream.read(&mut bytes)).await,
                Err(failure) => Err(failure),
            };
            bytes.truncate(*read.as_ref().unwrap_or(&0));
            let answer = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
            if !answer.starts_with("http/1.1 200 ") {
                assert!(took > PROMPT, "after {answered:?}: `{answer}` {read:?}");
                break;
            }
            answered.fetch_add(1, Ordering::Relaxed);
            since = started;
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
            let counts: [Arc<AtomicUsize>; 8] = Default::default();
            let clients = counts.each_ref().map(|count| {
                tokio::spawn(send_requests_until_refused(
                    address,
                    request,
                    Arc::clone(count),
                ))
            });
            let are_answered = || counts.iter().all(|count| count.load(Ordering::Relaxed) > 9);
            until("ten answers for each", are_answered).await;
            running.shutdown().await;
            for client in clients {
                if let Err(failure) = client.await {
                    panic!("{failure}");
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
    // A request in progress gets its response.
    peer.send(&get(3, "/quick")).await;
    let arrived = peer.until(DATA).await;
    assert_eq!(arrived.last(), Some(&(DATA, 3, 4)), "{arrived:?}");
    drop(peer);
    assert!(stopping.await.is_ok());
}
