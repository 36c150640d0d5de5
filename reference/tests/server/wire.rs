//! A client that sends and reads bytes as they are.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use reference::{Running, start};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// An engine that listens on a free port, with these flags.
pub(crate) async fn engine(flags: &[&str]) -> Running {
    let args = ["engine", "--addr", "127.0.0.1:0"];
    let args = args.iter().chain(flags).map(|flag| (*flag).to_owned());
    match start(args).await {
        Ok(running) => running,
        Err(failure) => panic!("the engine does not start: {failure}"),
    }
}

/// A connection to the engine.
pub(crate) async fn connect(running: &Running) -> TcpStream {
    let Some(address) = running.engine else {
        panic!("no engine is listening");
    };
    match TcpStream::connect(address).await {
        Ok(stream) => stream,
        Err(failure) => panic!("cannot connect: {failure}"),
    }
}

/// Sends text.
pub(crate) async fn send(stream: &mut (impl AsyncWrite + Unpin), text: &str) {
    if let Err(failure) = stream.write_all(text.as_bytes()).await {
        panic!("cannot send: {failure}");
    }
}

/// Everything that arrives until the server closes the connection, within ten seconds.
pub(crate) async fn all(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    match tokio::time::timeout(Duration::from_secs(10), read).await {
        // A server may reset the connection after its last word.
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => panic!(
            "the connection stays open after: {}",
            String::from_utf8_lossy(&bytes)
        ),
    }
}

/// What is answered to text sent on a connection of its own.
pub(crate) async fn ask(running: &Running, text: &str) -> String {
    let mut stream = connect(running).await;
    send(&mut stream, text).await;
    all(&mut stream).await
}

/// A GET that ends its connection.
pub(crate) const GET: &str = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// A connection to an address whose client's side is set up before.
pub(crate) async fn connect_as(
    address: SocketAddr,
    set_up: impl FnOnce(&TcpSocket) -> std::io::Result<()>,
) -> TcpStream {
    let socket = TcpSocket::new_v4();
    let connected = async {
        let socket = socket?;
        set_up(&socket)?;
        socket.connect(address).await
    };
    match connected.await {
        Ok(stream) => stream,
        Err(failure) => panic!("cannot connect: {failure}"),
    }
}

/// Waits until something is so, for ten seconds at most.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < end, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The status and the body of an answer, and whether it is the connection's last.
pub(crate) fn parts(answer: &str) -> (&str, &str, bool) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    let closes = head.to_ascii_lowercase().contains("\r\nconnection: close");
    (status, body, closes)
}

/// Asserts that an answer is an error object with this status.
#[track_caller]
pub(crate) fn assert_error(answer: &str, expected: &str, context: &str) {
    let (status, body, _) = parts(answer);
    assert_eq!(status, expected, "{context}: {answer}");
    let object: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    for member in ["code", "message"] {
        let text = object.get(member).and_then(|text| text.as_str());
        assert!(
            text.is_some_and(|text| !text.is_empty()),
            "{context}: {answer}"
        );
    }
}
