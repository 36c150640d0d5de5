//! The only place that builds a response.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header::CONTENT_TYPE};
use http_body_util::Full;
use serde::Serialize;

/// An answer, ready to be sent.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Reply {
    /// An answer without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// A plain-text answer.
    pub fn text(status: StatusCode, text: impl Into<String>) -> Self {
        let mut reply = Self::empty(status);
        let text_type = HeaderValue::from_static("text/plain; charset=utf-8");
        reply.headers.insert(CONTENT_TYPE, text_type);
        reply.body = Bytes::from(text.into());
        reply
    }

    /// A JSON answer that ends in a newline, indented by two spaces when `pretty`.
    pub fn json(status: StatusCode, value: &impl Serialize, pretty: bool) -> Self {
        let written = if pretty {
            serde_json::to_vec_pretty(value)
        } else {
            serde_json::to_vec(value)
        };
        let Ok(mut body) = written else {
            return Self::text(
                StatusCode::INTERNAL_SERVER_ERROR,
                "answer cannot be written",
            );
        };
        body.push(b'\n');
        let mut reply = Self::empty(status);
        let json_type = HeaderValue::from_static("application/json");
        reply.headers.insert(CONTENT_TYPE, json_type);
        reply.body = Bytes::from(body);
        reply
    }

    /// The answer as it is sent.
    pub(super) fn into_response(self) -> http::Response<Full<Bytes>> {
        let mut response = http::Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}
