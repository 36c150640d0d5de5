//! A checked request with its decoded body, as handlers see it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::AsHeaderName;
use http::uri::Authority;
use http::{HeaderMap, Method, Version};

use super::access_log::Number;
use super::error::{ApiError, Code};
use super::memory_budget::RequestMemory;
use super::path::{RequestPath, unescape};
use super::remote_addr::Peer;
use crate::telemetry::RequestSpan;

/// Request with its whole body.
#[derive(Debug, Clone)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Decoded path.
    pub path: RequestPath,
    /// Decoded query parameters in order.
    pub query: Vec<(String, String)>,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, without its content encoding.
    pub body: Bytes,
    /// Value of the body that the authorization policy has seen, if any: the handler uses the same
    /// value.
    pub shown_body: OnceLock<Option<rego::Value>>,
    /// Peer of the connection, if the request arrived over one.
    pub client: Option<Peer>,
    /// Certificates of the client, the leaf first, concatenated in DER; empty if none are
    /// requested.
    pub client_certificates: Bytes,
    /// Sequence number of the request in the log.
    pub number: Number,
    /// Connection properties at the arrival of the request.
    pub arrival: ConnectionInfo,
    /// Span of the request, once it has one.
    pub span: Option<RequestSpan>,
    /// Reservation of the memory budget for bodies.
    pub memory: RequestMemory,
    /// Set when the client no longer waits for the response.
    pub cancelled: Arc<AtomicBool>,
    /// Present during an inline attempt on the connection thread.
    pub inline_attempt: Option<Arc<InlineAttempt>>,
}

/// Connection properties of an arriving request.
#[derive(Debug, Clone)]
pub struct ConnectionInfo {
    /// When the head of the request was received.
    pub started: Instant,
    /// HTTP version of the request.
    pub version: Version,
    /// Whether the request arrived over TLS.
    pub secure: bool,
    /// Requested host, if it is not in the headers.
    pub authority: Option<Authority>,
}

/// Error of an inline attempt that is abandoned because the remaining work may take long.
#[derive(Debug)]
pub struct Abandoned;

/// Converts to `internal_error`, which no client receives: the request is processed again, without
/// a time budget.
impl From<Abandoned> for ApiError {
    fn from(_: Abandoned) -> Self {
        Self::new(Code::InternalError, "the inline attempt was abandoned")
    }
}

/// Inline attempt: a response on the connection thread, abandoned if it takes too long.
#[derive(Debug)]
pub struct InlineAttempt {
    /// Time at which the attempt is abandoned.
    pub deadline: Instant,
    abandoned: AtomicBool,
}

impl InlineAttempt {
    /// Creates an attempt with this time budget.
    pub fn within(time: Duration) -> Self {
        Self {
            deadline: Instant::now() + time,
            abandoned: AtomicBool::new(false),
        }
    }

    /// Abandons the attempt: its response is discarded.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// Whether the attempt was abandoned.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}

impl From<http::Request<Bytes>> for Request {
    fn from(request: http::Request<Bytes>) -> Self {
        let (parts, body) = request.into_parts();
        Self {
            method: parts.method,
            path: RequestPath::parse(parts.uri.path()),
            query: parameters(parts.uri.query().unwrap_or_default()),
            headers: parts.headers,
            body,
            shown_body: OnceLock::new(),
            client: None,
            client_certificates: Bytes::new(),
            number: Number::default(),
            arrival: ConnectionInfo {
                started: Instant::now(),
                version: parts.version,
                secure: false,
                authority: parts.uri.authority().cloned(),
            },
            span: None,
            memory: RequestMemory::default(),
            cancelled: Arc::default(),
            inline_attempt: None,
        }
    }
}

impl Request {
    /// Abandons an inline attempt at this request, because the remaining work may take long or has
    /// side effects.
    ///
    /// # Errors
    /// `Abandoned` in an inline attempt.
    pub fn leave_inline_attempt(&self) -> Result<(), Abandoned> {
        match &self.inline_attempt {
            None => Ok(()),
            Some(attempt) => {
                attempt.abandon();
                Err(Abandoned)
            }
        }
    }

    /// First value of a query parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter().filter(|(key, _)| key == name);
        values.next().map(|(_, value)| value.as_str())
    }

    /// Last value of a query parameter.
    pub fn last_parameter(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter().rev().filter(|(key, _)| key == name);
        values.next().map(|(_, value)| value.as_str())
    }

    /// Whether a boolean parameter is set: `true` in any case, or empty, or without a value.
    pub fn flag(&self, name: &str) -> bool {
        let values = self.query.iter().filter(|(key, _)| key == name);
        let values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
        values == [""]
            || values
                .iter()
                .any(|value| value.eq_ignore_ascii_case("true"))
    }

    /// First value of a header, if it is a visible ASCII string.
    pub fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Decoded parameters of a query string in order. A pair with a malformed escape is omitted.
fn parameters(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let decoded = pairs.filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((
            unescape(&key.replace('+', " "))?,
            unescape(&value.replace('+', " "))?,
        ))
    });
    decoded.collect()
}
