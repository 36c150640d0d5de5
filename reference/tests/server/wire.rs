//! Client that sends and receives raw bytes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use reference::{Running, start};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// Flags of timeouts for clients.
const TIMEOUTS: [&str; 3] = ["--header-timeout", "--body-timeout", "--write-timeout"];

/// Adds flags with a timeout of an hour for all timeouts that are not given.
pub(crate) fn patient<'f>(flags: &[&'f str]) -> Vec<&'f str> {
    let others = TIMEOUTS.iter().filter(|name| !flags.contains(name));
    let others = others.flat_map(|name| [*name, "1h"]);
    flags.iter().copied().chain(others).collect()
}

/// Starts an engine on a free port, with flags.
pub(crate) async fn engine(flags: &[&str]) -> Running {
    let args = ["engine", "--addr", "127.0.0.1:0"].into_iter();
    let args = args.chain(patient(flags)).map(str::to_owned);
    match start(args).await {
        Ok(running) => running,
        Err(failure) => panic!("the engine does not start: {failure}"),
    }
}

/// Connects to the engine.
pub(crate) async fn connect(running: &Running) -> TcpStream {
    let Some(address) = running.engine else {
        panic!("no engine is listening");
    };
    match TcpStream::connect(address).await {
        Ok(stream) => stream,
        Err(failure) => panic!("cannot connect: {failure}"),
    }
}

/// Sends a string on a connection.
pub(crate) async fn send(stream: &mut (impl AsyncWrite + Unpin), text: &str) {
    if let Err(failure) = stream.write_all(text.as_bytes()).await {
        panic!("cannot send: {failure}");
    }
}

/// Timeout of waits, which only ends hangs. No test depends on timing.
pub(crate) const HANG_LIMIT: Duration = Duration::from_secs(120);

/// Awaits a future, with the timeout [`HANG_LIMIT`].
pub(crate) async fn ending<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(HANG_LIMIT, future).await {
        Ok(result) => result,
        Err(_) => panic!("no end: {what}"),
    }
}

/// Reads until the server closes the connection.
pub(crate) async fn all(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    match timeout(HANG_LIMIT, read).await {
        // A server may reset the connection after its last response.
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => panic!(
            "the connection stays open after: {}",
            String::from_utf8_lossy(&bytes)
        ),
    }
}

/// Sends a string on a new connection; returns all responses.
pub(crate) async fn send_request(running: &Running, text: &str) -> String {
    let mut stream = connect(running).await;
    send(&mut stream, text).await;
    all(&mut stream).await
}

/// GET request that closes its connection.
pub(crate) const GET: &str = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// Connects to an address after configuring the client's socket.
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

/// Polls a condition until it is true.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + HANG_LIMIT;
    while !condition() {
        assert!(Instant::now() < end, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until the server has read all sent bytes, and a moment longer for their processing. On
/// systems other than Linux, it only waits the moment.
pub(crate) async fn until_read(stream: &TcpStream) {
    if let (Ok(local), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) {
        until("what was sent is read", || unread(peer, local) == Some(0)).await;
    }
    tokio::time::sleep(Duration::from_millis(30)).await;
}

/// Returns the number of received bytes that the server's socket has not read, as Linux reports it;
/// zero on other systems, `None` if the connection is not found.
fn unread(local: SocketAddr, peer: SocketAddr) -> Option<u64> {
    let Ok(table) = std::fs::read_to_string("/proc/net/tcp") else {
        return Some(0);
    };
    let written = |address: SocketAddr| match address {
        SocketAddr::V4(address) => {
            let bytes = u32::from_ne_bytes(address.ip().octets());
            format!("{bytes:08X}:{:04X}", address.port())
        }
        SocketAddr::V6(_) => String::new(),
    };
    let (local, peer) = (written(local), written(peer));
    table.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_it = words.next()? == local && words.next()? == peer;
        let (_, received) = words.nth(1)?.split_once(':')?;
        is_it.then(|| u64::from_str_radix(received, 16).ok())?
    })
}

/// Returns the status and the body of a response, and true if the response closes its connection.
pub(crate) fn parts(answer: &str) -> (&str, &str, bool) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    let closes = head.to_ascii_lowercase().contains("\r\nconnection: close");
    (status, body, closes)
}

/// Asserts that a response is an error object with a status.
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
