//! Malformed HTTP/2 requests.

use crate::attack::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, block, frame,
};

/// Expected outcome of a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum ExpectedOutcome {
    /// A reset of the stream, a connection error, or a response with status 400.
    Refused,
    /// A response with status 200.
    Answered,
}

use ExpectedOutcome::{Answered, Refused};

/// Headers of a valid request.
pub(super) const SOUND: &[(&str, &str)] = &[
    (":method", "GET"),
    (":scheme", "http"),
    (":authority", "server"),
    (":path", "/health"),
];

/// Encodes a request with these headers.
fn headers_frame(headers: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, 1, &block(headers))
}

/// Encodes a valid request with an additional header.
fn with(name: &str, value: &str) -> Vec<u8> {
    headers_frame(&[SOUND, &[(name, value)]].concat())
}

/// Returns malformed requests and two valid ones: the name, the bytes and the expected outcome of
/// each.
pub(super) fn malformed() -> Vec<(&'static str, Vec<u8>, ExpectedOutcome)> {
    let without = |name: &str| {
        let remaining: Vec<_> = SOUND
            .iter()
            .filter(|(known, _)| *known != name)
            .copied()
            .collect();
        headers_frame(&remaining)
    };
    let body = |length: &str, data: &[u8]| {
        let headers = [SOUND, &[("content-length", length)]].concat();
        let mut bytes = frame(HEADERS, END_HEADERS, 1, &block(&headers));
        bytes.extend(frame(DATA, END_STREAM, 1, data));
        bytes
    };
    let late = [&[("x", "y")], SOUND].concat();
    let twice = [SOUND, SOUND].concat();
    vec![
        ("sound", headers_frame(SOUND), Answered),
        (
            "frame of a type that nobody knows",
            [frame(77, 0, 0, b"?"), headers_frame(SOUND)].concat(),
            Answered,
        ),
        ("pseudo header late", headers_frame(&late), Refused),
        ("pseudo headers twice", headers_frame(&twice), Refused),
        ("no path", without(":path"), Refused),
        ("no method", without(":method"), Refused),
        (
            "pseudo header of an answer",
            with(":status", "200"),
            Refused,
        ),
        ("pseudo header unknown", with(":evil", "1"), Refused),
        ("capitals", with("X-Capital", "1"), Refused),
        ("CRLF in a value", with("x", "a\r\nb: c"), Refused),
        ("NUL in a value", with("x", "a\0b"), Refused),
        ("LF in a name", with("x\ny", "1"), Refused),
        ("connection", with("connection", "close"), Refused),
        (
            "transfer-encoding",
            with("transfer-encoding", "chunked"),
            Refused,
        ),
        ("te: gzip", with("te", "gzip"), Refused),
        ("length too long", body("5", b"{}"), Refused),
        ("length too short", body("1", b"{}"), Refused),
        ("length that is not a number", body("x", b"{}"), Refused),
        (
            "data before headers",
            frame(DATA, END_STREAM, 1, b"{}"),
            Refused,
        ),
        (
            "stream of the server",
            frame(HEADERS, END_STREAM | END_HEADERS, 2, &block(SOUND)),
            Refused,
        ),
        (
            "stream 0",
            frame(HEADERS, END_STREAM | END_HEADERS, 0, &block(SOUND)),
            Refused,
        ),
        (
            "continuation of nothing",
            frame(CONTINUATION, END_HEADERS, 1, &block(SOUND)),
            Refused,
        ),
        (
            "continuation of another stream",
            {
                let first = frame(HEADERS, END_STREAM, 1, &block(SOUND));
                [first, frame(CONTINUATION, END_HEADERS, 3, &[])].concat()
            },
            Refused,
        ),
        (
            "ping within headers",
            {
                let first = frame(HEADERS, END_STREAM, 1, &block(SOUND));
                [first, frame(PING, 0, 0, &[0; 8])].concat()
            },
            Refused,
        ),
        (
            "ping of another length",
            frame(PING, 0, 0, &[0; 7]),
            Refused,
        ),
        (
            "settings of another length",
            frame(SETTINGS, 0, 0, &[0; 5]),
            Refused,
        ),
        ("settings of a stream", frame(SETTINGS, 0, 1, &[]), Refused),
        (
            "acknowledged settings with contents",
            frame(SETTINGS, ACK, 0, &[0; 6]),
            Refused,
        ),
        (
            "window of nothing",
            frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
            Refused,
        ),
        (
            "window too large",
            {
                let most = frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes());
                [most.clone(), most].concat()
            },
            Refused,
        ),
        (
            "reset of what never was",
            frame(RST_STREAM, 0, 1, &[0; 4]),
            Refused,
        ),
        (
            "push from the client",
            frame(5, END_HEADERS, 1, &[0, 0, 0, 2]),
            Refused,
        ),
        ("frame too large", frame(DATA, 0, 1, &[0; 20_000]), Refused),
        (
            "padding too long",
            frame(HEADERS, END_STREAM | END_HEADERS | 8, 1, &[200, 0x82]),
            Refused,
        ),
        (
            "index 0",
            frame(HEADERS, END_STREAM | END_HEADERS, 1, &[0x80]),
            Refused,
        ),
        (
            "index beyond the table",
            frame(
                HEADERS,
                END_STREAM | END_HEADERS,
                1,
                &[0xff, 0x80, 0x80, 0x01],
            ),
            Refused,
        ),
        (
            "text that ends early",
            frame(HEADERS, END_STREAM | END_HEADERS, 1, &[0, 10, b'a']),
            Refused,
        ),
        (
            "table too large",
            frame(
                HEADERS,
                END_STREAM | END_HEADERS,
                1,
                &[0x3f, 0xff, 0xff, 0x7f],
            ),
            Refused,
        ),
    ]
}
