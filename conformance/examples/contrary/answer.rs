//! Answers, and how they are sent.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures_util::stream::{self, Iter};
use http::{HeaderMap, HeaderValue, Response, StatusCode, header, request::Parts};
use http_body_util::StreamBody;
use hyper::body::Frame;
use serde_json::{Value, json};

use crate::{body, write};

type Pieces = std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>;
pub(crate) type Reply = Response<StreamBody<Iter<Pieces>>>;

/// Maximum number of bytes of a body in one chunk.
const PIECE: usize = 7;

static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// A status with a JSON document or without a body.
pub(crate) struct Answer {
    status: StatusCode,
    body: Option<Value>,
    allow: Option<&'static str>,
}

/// Why a request is rejected.
pub(crate) struct Failure {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// Line of the policy that has the error, from 1.
    row: Option<usize>,
    allow: Option<&'static str>,
}

impl Answer {
    pub(crate) fn ok(body: Value) -> Self {
        Self::with(StatusCode::OK, Some(body))
    }

    pub(crate) fn empty(status: StatusCode) -> Self {
        Self::with(status, None)
    }

    pub(crate) fn with(status: StatusCode, body: Option<Value>) -> Self {
        let allow = None;
        Self {
            status,
            body,
            allow,
        }
    }

    pub(crate) fn allow(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    /// Builds the response to a request with this head.
    pub(crate) fn reply(self, head: &Parts) -> Result<Reply, http::Error> {
        let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
        let mut reply = Response::builder()
            .status(self.status)
            .header(header::SERVER, "contrary/1")
            .header(header::VARY, "Accept-Encoding, Authorization")
            .header(header::CACHE_CONTROL, "no-store, private")
            .header("X-Request-Number", number);
        if let Some(methods) = self.allow {
            reply = reply.header(header::ALLOW, methods);
        }
        let Some(value) = self.body else {
            return reply.body(pieces(Vec::new()));
        };
        reply = reply.header(header::CONTENT_TYPE, "Application/JSON;charset=\"UTF-8\"");
        let pretty =
            body::parameters(head).any(|(name, value)| name == "pretty" && value == "true");
        let mut bytes = write::json(&value, pretty).into_bytes();
        if takes_gzip(&head.headers) {
            let mut packer = GzEncoder::new(Vec::new(), Compression::none());
            // Writing to memory cannot fail; should it, the answer goes out as it is.
            if let Ok(packed) = packer.write_all(&bytes).and_then(|()| packer.finish()) {
                bytes = packed;
                reply = reply.header(header::CONTENT_ENCODING, HeaderValue::from_static("GZip"));
            }
        }
        reply.body(pieces(bytes))
    }
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let none = weight.replace(' ', "").trim_start_matches("q=").parse() == Ok(0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !none
    })
}

fn pieces(body: Vec<u8>) -> StreamBody<Iter<Pieces>> {
    let body = Bytes::from(body);
    // Long bodies in longer pieces, so that there are never more than some hundreds.
    let size = PIECE.max(body.len() / 256);
    let starts = (0..body.len()).step_by(size);
    let frames = starts.map(|start| body.slice(start..body.len().min(start + size)));
    let frames: Vec<_> = frames.map(|piece| Ok(Frame::data(piece))).collect();
    StreamBody::new(stream::iter(frames))
}

impl Failure {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_parameter", message)
    }

    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "no.such.thing", message)
    }

    pub(crate) fn method(allowed: &'static str) -> Self {
        let failure = Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "wrong.method",
            "this cannot be done here",
        );
        Self {
            allow: Some(allowed),
            ..failure
        }
    }

    pub(crate) fn at_row(self, row: usize) -> Self {
        Self {
            row: Some(row),
            ..self
        }
    }

    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            row: None,
            allow: None,
        }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        let errors: Vec<Value> = failure
            .row
            .map(|row| {
                json!({
                    "code": "line.not.understood",
                    "message": "neither a package nor a constant",
                    "location": {"file": "", "row": row, "col": 1, "text": null},
                })
            })
            .into_iter()
            .collect();
        let body = json!({
            "code": failure.code,
            "message": failure.message,
            "errors": errors,
            "advice": {"retry": false},
        });
        Self {
            allow: failure.allow,
            ..Self::with(failure.status, Some(body))
        }
    }
}
