//! A checked request with its decoded body, as handlers see it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::AsHeaderName;
use http::uri::Authority;
use http::{HeaderMap, Method, Version};

use super::access_log::Number;
use super::memory_budget::RequestMemory;
use super::path::{RequestPath, unescape};
use super::remote_addr::Peer;
use crate::telemetry::RequestSpan;

/// A request with its whole body.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path, decoded.
    pub path: RequestPath,
    /// The query parameters in order, decoded.
    pub query: Vec<(String, String)>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, without its content encoding.
    pub body: Bytes,
    /// The value of the body that the authorization policy was shown, if it was shown one: the
    /// handler acts on the same.
    pub(crate) shown_body: OnceLock<Option<rego::Value>>,
    /// Where the request comes from, if it came over a socket.
    pub client: Option<Peer>,
    /// The certificates that the client has shown, its own first, one behind the other in DER.
    /// Empty if it was not asked for any.
    pub client_certificates: Bytes,
    /// What tells it from others in the log.
    pub number: Number,
    /// How it came.
    pub(crate) arrival: Arrival,
    /// Its span, once it has one.
    pub(crate) span: Option<RequestSpan>,
    /// What the body takes of the memory for bodies.
    pub(crate) memory: RequestMemory,
    /// Set when nobody waits for the answer any more.
    pub cancelled: Arc<AtomicBool>,
    /// Present while the thread that serves the connection tries to answer at once.
    pub inline_attempt: Option<Arc<InlineAttempt>>,
}

/// How a request came.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    /// When its head was there.
    pub(crate) begun: Instant,
    pub(crate) version: Version,
    /// Whether it came over TLS.
    pub(crate) secure: bool,
    /// The host that the client asks, if it is not in the headers.
    pub(crate) authority: Option<Authority>,
}

/// Error of an inline attempt that is abandoned because what follows may take long.
#[derive(Debug)]
pub struct Abandoned;

/// Inline attempt: a response on the connection thread, abandoned if it takes too long.
#[derive(Debug)]
pub struct InlineAttempt {
    /// When it is abandoned.
    pub deadline: Instant,
    abandoned: AtomicBool,
}

impl InlineAttempt {
    /// An attempt that may take this long.
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

    /// Whether it was abandoned.
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
            arrival: Arrival {
                begun: Instant::now(),
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
    /// Abandons an inline attempt at this request, because what follows may take long or has
    /// effects.
    ///
    /// # Errors
    /// In an inline attempt.
    pub(crate) fn leave_inline_attempt(&self) -> Result<(), Abandoned> {
        match &self.inline_attempt {
            None => Ok(()),
            Some(attempt) => {
                attempt.abandon();
                Err(Abandoned)
            }
        }
    }

    /// The first value of a query parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter().filter(|(key, _)| key == name);
        values.next().map(|(_, value)| value.as_str())
    }

    /// The last value of a query parameter.
    pub fn last_parameter(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter().rev().filter(|(key, _)| key == name);
        values.next().map(|(_, value)| value.as_str())
    }

    /// Whether a boolean parameter is given bare, empty, or as `true` in any case.
    pub fn flag(&self, name: &str) -> bool {
        let values = self.query.iter().filter(|(key, _)| key == name);
        let values: Vec<&str> = values.map(|(_, value)| value.as_str()).collect();
        values == [""]
            || values
                .iter()
                .any(|value| value.eq_ignore_ascii_case("true"))
    }

    /// A header as text.
    pub fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The parameters of a query string in order, decoded. A pair with a broken escape is left out.
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
