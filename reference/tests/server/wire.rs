//! A client that sends and reads bytes as they are.

use std::time::Duration;

use reference::{Running, start};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

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
