//! Inputs as text with a sequence of requests, so that they can be read and changed by parts.
//!
//! A line `%%` ends a request, `%%%` also its connection. The first line of a request is its method
//! and target; headers, an empty line and the body follow. A request whose first line is `!` is
//! sent unchanged, even if it is malformed.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Maximum number of requests sent for one input.
const REQUESTS: usize = 24;

/// One request, as it stands in the input.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Text of the request, up to the line that ends it.
    pub text: Vec<u8>,
    /// Whether the connection ends after this request.
    pub last: bool,
}

/// Splits an input into its requests.
pub fn parts(input: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut part = Part::default();
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        let last = match line {
            b"%%\n" | b"%%" => false,
            b"%%%\n" | b"%%%" => true,
            _ => {
                part.text.extend_from_slice(line);
                continue;
            }
        };
        part.last = last;
        part.text.pop_if(|byte| *byte == b'\n');
        parts.push(std::mem::take(&mut part));
    }
    part.last = true;
    parts.push(part);
    parts
}

/// Joins requests into an input.
pub fn input(parts: &[Part]) -> Vec<u8> {
    let mut input = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        input.extend_from_slice(&part.text);
        if index + 1 < parts.len() {
            input.extend_from_slice(if part.last { b"\n%%%\n" } else { b"\n%%\n" });
        }
    }
    input
}

/// Requests that are sent on one connection.
#[derive(Debug, Default)]
pub struct Connection {
    /// Bytes of all requests, as sent.
    pub bytes: Vec<u8>,
    /// First line of each request.
    pub lines: Vec<String>,
    /// Whether a request may be incomplete, so that the server waits for more bytes.
    pub open: bool,
}

/// Groups the requests of an input by connection.
pub fn connections(input: &[u8]) -> Vec<Connection> {
    let mut connections = Vec::new();
    let mut connection = Connection::default();
    for part in parts(input).into_iter().take(REQUESTS) {
        connection.bytes.extend(encode_request(&part.text));
        connection.open |= is_open(&part.text);
        let line = part.text.split(|byte| *byte == b'\n').next();
        let line = String::from_utf8_lossy(line.unwrap_or_default());
        connection.lines.push(line.into_owned());
        if part.last {
            connections.push(std::mem::take(&mut connection));
        }
    }
    connections.push(connection);
    connections.retain(|connection| !connection.lines.is_empty());
    for connection in connections.iter_mut().filter(|connection| !connection.open) {
        connection
            .bytes
            .extend(encode_request(b"GET /health\nConnection: close"));
        connection.lines.push("GET /health".to_owned());
    }
    connections
}

/// Whether a request states its length itself, or is sent unchanged.
fn is_open(text: &[u8]) -> bool {
    let head = split(text).0.to_ascii_lowercase();
    let contains = |words: &[u8]| head.windows(words.len()).any(|part| part == words);
    text.starts_with(b"!\n") || contains(b"\ncontent-length") || contains(b"\ntransfer-encoding")
}

/// Splits a request into its head and its body.
pub fn split(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.windows(2).position(|bytes| bytes == b"\n\n");
    match end {
        Some(end) => (&text[..end], &text[end + 2..]),
        None => (text, b""),
    }
}

/// Returns the bytes that are sent for a request: complete, and with the length of its body unless
/// it states another.
fn encode_request(text: &[u8]) -> Vec<u8> {
    if let Some(raw) = text.strip_prefix(b"!\n") {
        return raw.to_vec();
    }
    let (head, body) = split(text);
    let mut lines = head.split(|byte| *byte == b'\n');
    let mut bytes = lines.next().unwrap_or_default().to_vec();
    bytes.extend(b" HTTP/1.1\r\n");
    let head = head.to_ascii_lowercase();
    let contains = |words: &[u8]| head.windows(words.len()).any(|part| part == words);
    if !contains(b"\nhost:") {
        bytes.extend(b"Host: h\r\n");
    }
    for line in lines {
        bytes.extend(line);
        bytes.extend(b"\r\n");
    }
    let compress = contains(b"\ncontent-encoding: gzip") && !body.starts_with(&[0x1f, 0x8b]);
    let body = if compress { gzip(body) } else { body.to_vec() };
    if contains(b"\ntransfer-encoding: chunked") {
        bytes.extend(b"\r\n");
        for chunk in body.chunks(64) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            bytes.extend(chunk);
            bytes.extend(b"\r\n");
        }
        bytes.extend(b"0\r\n\r\n");
        return bytes;
    }
    if !body.is_empty() && !contains(b"\ncontent-length:") && !contains(b"\ntransfer-encoding:") {
        bytes.extend(format!("Content-Length: {}\r\n", body.len()).into_bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body);
    bytes
}

/// Returns the bytes, compressed.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
