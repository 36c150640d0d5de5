//! Replies of handlers: status, headers and body.

use http::header::{ALLOW, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Serialize;

use super::json_text::indented;
use super::response_body::Body;
use crate::telemetry::RequestSpan;

/// An answer, ready to be sent.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
    /// The span that ends when the answer is sent.
    pub(crate) span: Option<RequestSpan>,
}

impl Reply {
    /// An answer without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body: Body::from(&[][..]),
            span: None,
        }
    }

    /// A plain-text answer.
    pub fn text(status: StatusCode, text: impl Into<String>) -> Self {
        let mut reply = Self::empty(status);
        let text_type = HeaderValue::from_static("text/plain; charset=utf-8");
        reply.headers.insert(CONTENT_TYPE, text_type);
        reply.body = Body::from(text.into());
        reply
    }

    /// A JSON answer that ends in a newline, indented by two spaces when `pretty`.
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
                "answer cannot be written",
            ),
        }
    }

    /// A JSON answer from compact JSON text, indented when `pretty`; numbers keep their digits.
    pub fn compact_json(status: StatusCode, text: String, pretty: bool) -> Self {
        let text = if pretty { indented(&text) } else { text };
        Self::json_text(status, text.into_bytes())
    }

    /// A JSON answer whose body is written already, but for the newline at its end.
    pub fn json_text(status: StatusCode, mut body: Vec<u8>) -> Self {
        body.push(b'\n');
        Self::with_body(status, Body::from(body))
    }

    /// A document as the answer, indented by two spaces when `pretty`. If it is long, its text is
    /// made while it is sent.
    pub fn document(status: StatusCode, document: &rego::Value, pretty: bool) -> Self {
        Self::with_body(status, Body::document(document, pretty))
    }

    /// A JSON answer.
    fn with_body(status: StatusCode, body: Body) -> Self {
        let mut reply = Self::empty(status);
        let json_type = HeaderValue::from_static("application/json");
        reply.headers.insert(CONTENT_TYPE, json_type);
        reply.body = body;
        reply
    }

    /// The same answer with another media type.
    #[must_use]
    pub fn with_type(mut self, media_type: &str) -> Self {
        if let Ok(media_type) = HeaderValue::from_str(media_type) {
            self.headers.insert(CONTENT_TYPE, media_type);
        }
        self
    }

    /// The same answer, with the seconds after which the client should ask again.
    #[must_use]
    pub(super) fn retry_after(mut self, seconds: u32) -> Self {
        self.headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        self
    }

    /// 301 or 307 to another place on this server.
    pub fn redirect(status: StatusCode, location: &str) -> Self {
        let mut reply = Self::empty(status);
        if let Ok(location) = HeaderValue::from_str(location) {
            reply.headers.insert(LOCATION, location);
        }
        reply
    }

    /// 404 for a path that is none of the server's.
    pub fn not_found() -> Self {
        Self::text(StatusCode::NOT_FOUND, "404 page not found\n")
    }

    /// 405 with the methods that would be answered, and a text for people if asked for.
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
