//! Replies of handlers: status, headers and body.

use http::header::{ALLOW, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Serialize;

use super::json_text::indented;
use super::response_body::Body;
use crate::telemetry::RequestSpan;

/// Response, ready to be sent.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Body,
    /// Span that ends when the response is sent.
    pub span: Option<RequestSpan>,
}

impl Reply {
    /// Response without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body: Body::from(&[][..]),
            span: None,
        }
    }

    /// Plain-text response.
    pub fn text(status: StatusCode, text: impl Into<String>) -> Self {
        let mut reply = Self::empty(status);
        let text_type = HeaderValue::from_static("text/plain; charset=utf-8");
        reply.headers.insert(CONTENT_TYPE, text_type);
        reply.body = Body::from(text.into());
        reply
    }

    /// JSON response with a trailing newline, indented by two spaces when `pretty`.
    pub fn json(status: StatusCode, value: &impl Serialize, pretty: bool) -> Self {
        let written = if pretty {
            serde_json::to_vec_pretty(value)
        } else {
            serde_json::to_vec(value)
        };
        match written {
            Ok(body) => Self::json_text(status, body),
            Err(_) => Self::text(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the response cannot be encoded",
            ),
        }
    }

    /// JSON response from compact JSON, indented when `pretty`; digits of numbers are preserved.
    pub fn compact_json(status: StatusCode, text: String, pretty: bool) -> Self {
        let text = if pretty { indented(&text) } else { text };
        Self::json_text(status, text.into_bytes())
    }

    /// JSON response with an encoded body, to which the newline is added.
    pub fn json_text(status: StatusCode, mut body: Vec<u8>) -> Self {
        body.push(b'\n');
        Self::with_body(status, Body::from(body))
    }

    /// Document as the response, indented by two spaces when `pretty`. A long document is encoded
    /// while it is sent.
    pub fn document(status: StatusCode, document: &rego::Value, pretty: bool) -> Self {
        Self::with_body(status, Body::document(document, pretty))
    }

    /// JSON response with this body.
    fn with_body(status: StatusCode, body: Body) -> Self {
        let mut reply = Self::empty(status);
        let json_type = HeaderValue::from_static("application/json");
        reply.headers.insert(CONTENT_TYPE, json_type);
        reply.body = body;
        reply
    }

    /// Replaces the media type.
    #[must_use]
    pub fn with_type(mut self, media_type: &str) -> Self {
        if let Ok(media_type) = HeaderValue::from_str(media_type) {
            self.headers.insert(CONTENT_TYPE, media_type);
        }
        self
    }

    /// Sets the retry delay, in seconds.
    #[must_use]
    pub(super) fn retry_after(mut self, seconds: u32) -> Self {
        self.headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        self
    }

    /// 301 or 307 to another location on this server.
    pub fn redirect(status: StatusCode, location: &str) -> Self {
        let mut reply = Self::empty(status);
        if let Ok(location) = HeaderValue::from_str(location) {
            reply.headers.insert(LOCATION, location);
        }
        reply
    }

    /// 404 for an unknown path.
    pub fn not_found() -> Self {
        Self::text(StatusCode::NOT_FOUND, "404 page not found\n")
    }

    /// 405 with the allowed methods, and a text for humans if `text` is set.
    pub fn method_not_allowed(allowed: &[&Method], text: bool) -> Self {
        let mut reply = if text {
            Self::text(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed\n")
        } else {
            Self::empty(StatusCode::METHOD_NOT_ALLOWED)
        };
        let allowed: Vec<&str> = allowed.iter().map(|method| method.as_str()).collect();
        if let Ok(allowed) = HeaderValue::from_str(&allowed.join(", ")) {
            reply.headers.insert(ALLOW, allowed);
        }
        reply
    }
}
