//! Long responses, and limits on the memory of request and response bodies.

use std::io::Read;
use std::time::Duration;

use flate2::read::GzDecoder;
use reference::Running;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::wire::{connect, ending, engine, send, send_request};

/// Returns a document with JSON that is longer than all buffers between server and client.
fn long() -> String {
    let item = format!(r#"{{"name":"{}","list":[1,2,3]}}"#, "x".repeat(100));
    format!("[{}]", vec![item; 100_000].join(","))
}

async fn put(running: &Running, path: &str, body: &str) {
    let text = format!(
        "PUT {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = send_request(running, &text).await;
    let status = answer.lines().next().unwrap_or_default();
    assert!(status.contains(" 20"), "{status}");
}

/// Sends a GET request; returns the head and the raw body of the response.
async fn get(running: &Running, path: &str, headers: &str) -> (String, Vec<u8>) {
    let mut stream = connect(running).await;
    let text = format!("GET {path} HTTP/1.0\r\n{headers}\r\n");
    send(&mut stream, &text).await;
    let mut bytes = Vec::new();
    if let Err(failure) = ending(path, stream.read_to_end(&mut bytes)).await {
        panic!("{path}: {failure}");
    }
    let end = bytes.windows(4).position(|part| part == b"\r\n\r\n");
    let body = bytes.split_off(end.map_or(bytes.len(), |end| end + 4));
    (String::from_utf8_lossy(&bytes).into_owned(), body)
}

#[tokio::test]
async fn long_answers_are_whole() {
    let running = engine(&[]).await;
    let document = long();
    put(&running, "/v1/data/long", &document).await;
    let expected =
        format!("{{\"result\":{document}}}\n").replace(r#"{"name""#, r#"{"list":[1,2,3],"name""#);
    let expected = expected.replace(r#"","list":[1,2,3]}"#, r#""}"#);
    let (head, body) = get(&running, "/v1/data/long", "").await;
    let length = format!("content-length: {}\r\n", expected.len());
    assert!(head.starts_with("HTTP/1.0 200"), "{head}");
    assert!(head.contains(&length), "{head}");
    assert!(body == expected.as_bytes(), "{} bytes differ", body.len());
    let (head, body) = get(&running, "/v1/data/long", "Accept-Encoding: gzip\r\n").await;
    assert!(head.contains("content-encoding: gzip\r\n"), "{head}");
    let mut text = Vec::new();
    if let Err(failure) = GzDecoder::new(&*body).read_to_end(&mut text) {
        panic!("{failure}");
    }
    assert!(text == expected.as_bytes(), "{} bytes differ", text.len());
    running.shutdown().await;
}

/// Value with 10^25 items, built from shared arrays: its JSON is refused before it is generated.
#[tokio::test]
async fn an_endless_text_is_refused_before_it_is_made() {
    let running = engine(&[]).await;
    let mut policy = "package t\np0 := 1\n".to_owned();
    for level in 1..=25 {
        let below = vec![format!("p{}", level - 1); 10].join(", ");
        policy.push_str(&format!("p{level} := [{below}]\n"));
    }
    put(&running, "/v1/policies/t", &policy).await;
    for headers in ["", "Accept-Encoding: gzip\r\n"] {
        let (head, body) = get(&running, "/v1/data/t/p25", headers).await;
        assert!(head.starts_with("HTTP/1.0 500"), "{head}");
        let body = String::from_utf8_lossy(&body);
        assert!(body.contains("internal_error"), "{body}");
    }
    running.shutdown().await;
}

/// Sends a GET request; returns the head of the response.
async fn status(running: &Running, path: &str) -> String {
    let (head, _) = get(running, path, "").await;
    head
}

/// Repeats a request until its response begins with `expected`; each earlier response begins with
/// `interim`.
async fn send_request_until(running: &Running, request: &str, expected: &str, interim: &str) {
    let attempts = async {
        loop {
            let answer = send_request(running, request).await;
            if answer.starts_with(expected) {
                break;
            }
            assert!(answer.starts_with(interim), "{answer}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    ending(expected, attempts).await;
}

#[tokio::test]
async fn answers_that_nobody_reads_take_no_more_than_their_memory() {
    let running = engine(&["--response-memory", "300KiB"]).await;
    put(&running, "/v1/data/long", &long()).await;
    put(&running, "/v1/data/short", "1").await;
    let mut silent: Vec<TcpStream> = Vec::new();
    for _ in 0..2 {
        let mut stream = connect(&running).await;
        send(&mut stream, "GET /v1/data/long HTTP/1.1\r\nHost: x\r\n\r\n").await;
        // Wait until the response has begun.
        if let Err(failure) = stream.readable().await {
            panic!("{failure}");
        }
        silent.push(stream);
    }
    let head = status(&running, "/v1/data/long").await;
    assert!(head.starts_with("HTTP/1.0 503"), "{head}");
    assert!(head.contains("retry-after: 1\r\n"), "{head}");
    let head = status(&running, "/v1/data/short").await;
    assert!(head.starts_with("HTTP/1.0 200"), "{head}");
    drop(silent);
    let again = "GET /v1/data/long HTTP/1.0\r\n\r\n";
    send_request_until(&running, again, "HTTP/1.0 200 ", "HTTP/1.0 503 ").await;
    running.shutdown().await;
}

/// Repeats a request until the response is 503, while the request on `other` is being read. Returns
/// false if the server refused `other` instead: it may refuse either one.
async fn is_refused_beside(running: &Running, request: &str, other: &TcpStream) -> bool {
    loop {
        let answer = send_request(running, request).await;
        let other_is_read = other
            .try_read(&mut [0])
            .is_err_and(|failure| failure.kind() == std::io::ErrorKind::WouldBlock);
        if !other_is_read || answer.starts_with("HTTP/1.1 503 ") {
            return other_is_read;
        }
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn bodies_take_no_more_than_their_memory() {
    let running = engine(&["--body-memory", "200KiB"]).await;
    let post = |length: usize| {
        format!(
            "POST /v1/data/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    let beginning = post(1 << 20) + &"x".repeat(150 << 10);
    // Memory is reserved as a body arrives; the first request leaves too little for a large body.
    let large = post(100 << 10) + "{}" + &" ".repeat((100 << 10) - 2);
    let slow = ending("503", async {
        loop {
            let mut slow = connect(&running).await;
            send(&mut slow, &beginning).await;
            if is_refused_beside(&running, &large, &slow).await {
                break slow;
            }
        }
    })
    .await;
    let answer = send_request(&running, &(post(2) + "{}")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    drop(slow);
    send_request_until(&running, &large, "HTTP/1.1 200 ", "HTTP/1.1 503 ").await;
    running.shutdown().await;
}

#[tokio::test]
async fn decompressed_bodies_take_no_more_than_their_memory() {
    use std::io::Write;
    use tokio::io::AsyncWriteExt;

    let running = engine(&["--body-memory", "1MiB"]).await;
    for (length, expected) in [(100 << 10, "HTTP/1.1 200 "), (20 << 20, "HTTP/1.1 503 ")] {
        let text = format!(r#"{{"input":"{}"}}"#, "a".repeat(length));
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        let body = encoder
            .write_all(text.as_bytes())
            .and_then(|()| encoder.finish());
        let Ok(body) = body else {
            panic!("cannot compress");
        };
        let head = format!(
            "POST /v1/data/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = connect(&running).await;
        send(&mut stream, &head).await;
        if let Err(failure) = stream.write_all(&body).await {
            panic!("{failure}");
        }
        let answer = crate::wire::all(&mut stream).await;
        assert!(answer.starts_with(expected), "{answer}");
    }
    running.shutdown().await;
}
