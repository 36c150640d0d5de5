//! Requests made of bytes: a few after each other on one connection, each mostly sound.

use rego_generate::Choices;

/// What the endpoints of a server take.
#[derive(Debug)]
pub struct Table {
    /// Paths, with `*` for a segment that is chosen.
    pub paths: &'static [&'static str],
    /// Bodies that mean something to some endpoint.
    pub bodies: &'static [&'static str],
    /// Values of `Authorization`; an empty one is left out.
    pub credentials: &'static [&'static str],
}

const METHODS: &[&str] = &[
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "",
];
const SEGMENTS: &[&str] = &[
    "a", "b", "t", "p", "x%2Fy", "%00", "..", "", "%zz", "é", "0", "a%20b", "%22%5D%3B",
];
const QUERIES: &[&str] = &[
    "", "?pretty", "?pretty=true&metrics&explain=full", "?input=%7B%7D", "?limit=1", "?limit=x",
    "?cursor=a", "?provenance&instrument&strict-builtin-errors", "?q=data.a", "?%zz=%", "?q=1%2F0",
];
const HEADERS: &[&str] = &[
    "Content-Type: application/json", "Content-Type: application/yaml",
    "Content-Type: application/json-patch+json", "Content-Encoding: gzip", "Accept-Encoding: gzip",
    "If-None-Match: *", "Accept: application/vnd.engine.ucast.all+json",
    "Accept: application/vnd.engine.sql.sqlite+json", "Expect: 100-continue", "Expect: x",
    "Transfer-Encoding: gzip", "Host: other", "Connection: close", "Content-Length: 3",
    "Upgrade: h2c", "X: \u{1}",
];

/// All that a client sends on one connection.
pub fn connection(choices: &mut Choices<'_>, rest: &[u8], table: &Table) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=choices.below(4) {
        request(choices, rest, table, &mut bytes);
    }
    // What follows is no request, or the beginning of one.
    if choices.rarely(8) {
        bytes.extend_from_slice(rest);
    }
    bytes
}

fn request(choices: &mut Choices<'_>, rest: &[u8], table: &Table, bytes: &mut Vec<u8>) {
    let method = METHODS[choices.below(METHODS.len())];
    let mut path = String::new();
    for part in choices.of(table.paths).split('*') {
        path.push_str(part);
        if part.ends_with('/') {
            path.push_str(choices.of(SEGMENTS));
        }
    }
    let query = choices.of(QUERIES);
    bytes.extend(format!("{method} {path}{query} HTTP/1.1\r\nHost: h\r\n").into_bytes());
    let credential = choices.of(table.credentials);
    if !credential.is_empty() {
        bytes.extend(format!("Authorization: {credential}\r\n").into_bytes());
    }
    for _ in 0..choices.below(3) {
        bytes.extend(choices.of(HEADERS).as_bytes());
        bytes.extend(b"\r\n");
    }
    let body = match choices.below(4) {
        0 => &[],
        1 => rest,
        _ => choices.of(table.bodies).as_bytes(),
    };
    match choices.below(3) {
        0 if body.is_empty() => bytes.extend(b"\r\n"),
        0 => {
            bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
            bytes.extend(format!("{:x}\r\n", body.len()).into_bytes());
            bytes.extend(body);
            bytes.extend(b"\r\n0\r\n\r\n");
        }
        _ => {
            bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
            bytes.extend(body);
        }
    }
}
