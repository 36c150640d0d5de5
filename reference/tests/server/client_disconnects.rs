//! Clients that disconnect while the server processes their requests.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::frames::{Peer, RST_STREAM, frame, get};
use crate::service::{BIG, Server};
use crate::wire::{all, ending, send, until};

/// Kind of disconnect.
#[derive(Debug, Clone, Copy)]
enum Disconnect {
    Close,
    HalfClose,
    Reset,
}

impl Disconnect {
    /// Disconnects. After a half-close, returns the connection, which can still be read.
    async fn disconnect(self, mut stream: TcpStream) -> Option<TcpStream> {
        match self {
            Self::Close => None,
            Self::HalfClose => {
                assert!(stream.shutdown().await.is_ok());
                Some(stream)
            }
            Self::Reset => {
                assert!(stream.set_zero_linger().is_ok());
                None
            }
        }
    }
}

fn request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

#[tokio::test]
async fn nobody_waits_for_a_client_that_is_gone() {
    let many = request("/quick").repeat(1_200);
    for pipelined in ["", "x", &request("/quick"), &many] {
        for farewell in [Disconnect::Close, Disconnect::HalfClose, Disconnect::Reset] {
            let server = Server::start(&[]).await;
            let mut stream = server.connect().await;
            send(&mut stream, &(request("/endless") + pipelined)).await;
            server.wait_for_requests(1).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert_eq!(server.over(), 0, "{farewell:?}");
            let _left = farewell.disconnect(stream).await;
            let what = format!("{farewell:?} behind {} bytes", pipelined.len());
            until(&what, || server.over() >= 1).await;
        }
    }
}

#[tokio::test]
async fn a_client_that_closes_one_side_is_answered() {
    let cases = [
        ("/quick", "fine"),
        ("/short", "fine"),
        ("/heeding", "cancelled"),
    ];
    for (path, end) in cases {
        let server = Server::start(&[]).await;
        let request_and_close = async || {
            let mut stream = server.connect().await;
            send(&mut stream, &request(path)).await;
            assert!(stream.shutdown().await.is_ok());
            let answer = all(&mut stream).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
            answer
        };
        // On a busy machine, short work may exceed the grace period of the server and be cancelled.
        let is_answered = async {
            while !request_and_close().await.ends_with(end) {
                assert_eq!(path, "/short");
            }
        };
        ending(path, is_answered).await;
    }
    // The server does not wait for work that ignores its cancellation.
    let server = Server::start(&[]).await;
    let mut stream = server.connect().await;
    send(&mut stream, &request("/endless")).await;
    assert!(stream.shutdown().await.is_ok());
    let answer = all(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
}

#[tokio::test]
async fn an_answer_that_is_not_taken_is_given_up() {
    let server = Server::start(&[]).await;
    let mut stream = server.connect_narrow().await;
    send(&mut stream, &request("/big")).await;
    server.wait_for_requests(1).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(server.over(), 0, "all of the answer is sent already");
    drop(stream);
    until("the end of the answer", || server.over() == 1).await;
}

#[tokio::test]
async fn an_answer_is_sent_whole_before_the_next() {
    let server = Server::start(&[]).await;
    let mut stream = server.connect().await;
    send(&mut stream, &(request("/big") + &request("/quick"))).await;
    assert!(stream.shutdown().await.is_ok());
    let answer = all(&mut stream).await;
    assert!(answer.len() > BIG, "{} bytes", answer.len());
    assert!(answer.ends_with("fine"));
}

#[tokio::test]
async fn streams_end_with_their_client() {
    let server = Server::start(&[]).await;
    let mut peer = Peer::begin(server.connect().await, &[]).await;
    let requests = [1, 3, 5].map(|stream| get(stream, "/endless"));
    peer.send(&requests.concat()).await;
    server.wait_for_requests(3).await;
    peer.send(&frame(RST_STREAM, 0, 3, &8_u32.to_be_bytes()))
        .await;
    until("the end of one stream", || server.over() == 1).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(server.over(), 1);
    drop(peer);
    until("the end of all streams", || server.over() == 3).await;
}

#[tokio::test]
async fn one_connection_is_answered_so_many_requests_at_once() {
    let server = Server::start(&[]).await;
    let mut peer = Peer::begin(server.connect().await, &[]).await;
    // The server limits the number of streams; further requests are refused.
    let requests: Vec<u8> = (0..150)
        .flat_map(|at| get(2 * at + 1, "/endless"))
        .collect();
    peer.send(&requests).await;
    let arrived = peer.until(RST_STREAM).await;
    assert_eq!(arrived.last(), Some(&(RST_STREAM, 257, 4)), "{arrived:?}");
    server.wait_for_requests(128).await;
    drop(peer);
    until("the end of all streams", || server.over() == 128).await;
}
