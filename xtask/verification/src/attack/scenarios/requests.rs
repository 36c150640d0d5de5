//! HTTP/1 requests that two servers in a chain could parse differently.

/// Expected outcome of the bytes that are sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum ExpectedOutcome {
    /// An error or no response, and the connection is closed.
    Refused,
    /// At most one response, and the connection is closed.
    Last,
    /// This many responses, none of them a server error (5xx).
    Answers(usize),
    /// One response with this status.
    Status(u16),
}

use ExpectedOutcome::{Answers, Last, Refused, Status};

/// Requests: name, bytes and expected outcome. `POST` stands for the request line of a path with a
/// body, `HIDDEN` for the hidden request.
pub(super) const CASES: &[(&str, &str, ExpectedOutcome)] = &[
    (
        "CL and TE",
        "POST\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHIDDEN",
        Last,
    ),
    (
        "TE and CL",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nHIDDEN",
        Last,
    ),
    (
        "CL that differ",
        "POST\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 0\r\n\r\n{}HIDDEN",
        Refused,
    ),
    (
        "CL list that differs",
        "POST\r\nHost: a\r\nContent-Length: 2, 0\r\n\r\n{}HIDDEN",
        Refused,
    ),
    (
        "CL with plus",
        "POST\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}HIDDEN",
        Refused,
    ),
    (
        "CL with minus",
        "POST\r\nHost: a\r\nContent-Length: -2\r\n\r\n{}HIDDEN",
        Refused,
    ),
    (
        "CL in hex",
        "POST\r\nHost: a\r\nContent-Length: 0x2\r\n\r\n{}HIDDEN",
        Refused,
    ),
    (
        "CL beyond 64 bits",
        "POST\r\nHost: a\r\nContent-Length: 18446744073709551618\r\n\r\n{}HIDDEN",
        Refused,
    ),
    (
        "CL with a space within",
        "POST\r\nHost: a\r\nContent-Length: 0 2\r\n\r\n{}HIDDEN",
        Refused,
    ),
    (
        "CL empty",
        "POST\r\nHost: a\r\nContent-Length: \r\n\r\n{}HIDDEN",
        Refused,
    ),
    (
        "space before colon",
        "POST\r\nHost: a\r\nContent-Length : 2\r\n\r\n{}HIDDEN",
        Refused,
    ),
    (
        "TE unknown",
        "POST\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "TE identity",
        "POST\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "TE gzip first",
        "POST\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "TE chunked not last",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "TE with a tab in it",
        "POST\r\nHost: a\r\nTransfer-Encoding: chun\tked\r\n\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "TE space before colon",
        "POST\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "TE in HTTP/1.0",
        "POST/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHIDDEN",
        Last,
    ),
    (
        "folded header",
        "POST\r\nHost: a\r\nX: b\r\n Content-Length: 2\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "folded TE",
        "POST\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "CR in a value",
        "GET /health HTTP/1.1\r\nHost: a\r\nX: b\rContent-Length: 2\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "NUL in a value",
        "GET /health HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "NUL in the target",
        "GET /hea\0lth HTTP/1.1\r\nHost: a\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "header without colon",
        "GET /health HTTP/1.1\r\nHost: a\r\nX\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "header without name",
        "GET /health HTTP/1.1\r\nHost: a\r\n: x\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "space in a name",
        "GET /health HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "space before the first header",
        "GET /health HTTP/1.1\r\n Host: a\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "two spaces",
        "GET  /health HTTP/1.1\r\nHost: a\r\n\r\nHIDDEN",
        Refused,
    ),
    ("no version", "GET /health\r\n\r\n", Refused),
    (
        "another version",
        "GET /health HTTP/1.2\r\nHost: a\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "version 3",
        "GET /health HTTP/3.0\r\nHost: a\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "method that is not a token",
        "G@T(/health HTTP/1.1\r\nHost: a\r\n\r\nHIDDEN",
        Refused,
    ),
    ("no host", "GET /health HTTP/1.1\r\n\r\nHIDDEN", Refused),
    (
        "two hosts",
        "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "fragment",
        "GET /health#x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        Status(404),
    ),
    (
        "fragment over a path",
        "GET /health#/v1/data HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        Status(404),
    ),
    (
        "chunk of another size",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "chunk size with 0x",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "chunk size with plus",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "chunk size with minus",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "chunk size beyond 64 bits",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000002\r\n{}\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "chunk size empty",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\n{}\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "chunk size ends with LF",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "LF in a chunk extension",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a\nb\r\n{}\r\n0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "chunk ends with X",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\nHIDDEN",
        Refused,
    ),
    (
        "chunk extension",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\n\r\n",
        Answers(1),
    ),
    (
        "trailer",
        "POST\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\nHIDDEN",
        Answers(2),
    ),
    (
        "body of a GET",
        "GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: LENGTH\r\n\r\nHIDDENHIDDEN",
        Answers(2),
    ),
    (
        "body that nobody reads",
        "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: LENGTH\r\n\r\nHIDDEN",
        Answers(1),
    ),
    (
        "pipelined",
        "GET /health HTTP/1.1\r\nHost: a\r\n\r\nHIDDENHIDDEN",
        Answers(3),
    ),
    (
        "absolute form",
        "GET http://b/health HTTP/1.1\r\nHost: a\r\n\r\n",
        Answers(1),
    ),
    (
        "upgrade to h2c",
        "GET /health HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\nHIDDEN",
        Answers(2),
    ),
    (
        "expectation",
        "POST\r\nHost: a\r\nExpect: 200-maybe\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
        Status(417),
    ),
    ("bare LF", "GET /health HTTP/1.1\nHost: a\n\n", Answers(1)),
];
