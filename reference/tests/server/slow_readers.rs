//! Clients that read slowly or not at all.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::frames::{DATA, INITIAL_WINDOW, PING, Peer, frame, get};
use crate::service::{BIG, Server};
use crate::wire::{HANG_LIMIT, all, send, until};

const REQUEST: &str = "GET /big HTTP/1.1\r\nHost: x\r\n\r\n";
const TIMEOUT: [&str; 2] = ["--write-timeout", "600ms"];

#[tokio::test]
async fn who_does_not_read_is_cut_off() {
    let server = Server::start(&TIMEOUT).await;
    let mut stream = server.connect_narrow().await;
    let started = Instant::now();
    send(&mut stream, REQUEST).await;
    server.wait_for_requests(1).await;
    until("the end of the answer", || server.over() == 1).await;
    assert!(started.elapsed() >= Duration::from_millis(500));
    let read = all(&mut stream).await;
    assert!(read.len() < BIG, "{} bytes", read.len());
}

#[tokio::test]
async fn who_reads_slowly_is_not() {
    // The whole response takes longer than the timeout; each pause is much shorter than it.
    let server = Server::start(&["--write-timeout", "2s"]).await;
    let mut stream = server.connect_narrow().await;
    send(&mut stream, REQUEST).await;
    let mut buffer = vec![0; 1 << 20];
    for _ in 0..12 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        assert!(stream.read_exact(&mut buffer).await.is_ok());
    }
    assert_eq!(server.over(), 0);
}

#[tokio::test]
async fn streams_without_a_window_end_their_connection() {
    let server = Server::start(&TIMEOUT).await;
    for window in [0, 1000] {
        let over = server.over();
        let settings = [(INITIAL_WINDOW, window)];
        let mut peer = Peer::begin(server.connect().await, &settings).await;
        peer.send(&[get(1, "/big"), get(3, "/quick"), get(5, "/big")].concat())
            .await;
        // Frames that the client sends do not extend the timeout.
        let mut closed = false;
        let end = Instant::now() + HANG_LIMIT;
        while !closed && Instant::now() < end {
            let sent = peer.0.write_all(&frame(PING, 0, 0, &[0; 8])).await;
            let arrived = peer.until(PING).await;
            closed = sent.is_err() || arrived.last().is_none_or(|last| last.0 != PING);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(closed, "window {window}");
        until("the end of the answers", || server.over() == over + 3).await;
    }
}

#[tokio::test]
async fn connections_that_are_owed_nothing_stay() {
    let server = Server::start(&["--write-timeout", "200ms"]).await;
    let mut peer = Peer::begin(server.connect().await, &[]).await;
    for stream in [1, 3] {
        peer.send(&get(stream, "/quick")).await;
        let arrived = peer.until(DATA).await;
        assert_eq!(arrived.last(), Some(&(DATA, stream, 4)), "{arrived:?}");
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
    // Work that takes longer than the timeout does not end the connection, either.
    peer.send(&get(5, "/endless")).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    peer.send(&get(7, "/quick")).await;
    let arrived = peer.until(DATA).await;
    assert_eq!(arrived.last(), Some(&(DATA, 7, 4)), "{arrived:?}");
}
