//! Responses of the mock, complete or truncated.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use hyper::body::{Body, Frame, SizeHint};
use serde_json::{Value, json};

use crate::http_client::answer::Answer;

/// Error that deliberately closes the connection during an exchange.
#[derive(Debug, thiserror::Error)]
#[error("closed on purpose")]
pub(super) struct Closed;

/// A response body, complete or truncated.
#[derive(Debug)]
pub(super) struct MockBody {
    bytes: Option<Bytes>,
    /// Whether the connection is closed before the end of the body.
    cut: bool,
    /// Whether the available bytes had a chance to be sent before the connection is closed.
    waited: bool,
}

impl MockBody {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self {
            bytes: Some(bytes.into()).filter(|bytes| !bytes.is_empty()),
            cut: false,
            waited: false,
        }
    }

    /// The bytes of the body that are still to be sent.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes.clone().unwrap_or_default()
    }
}

impl Body for MockBody {
    type Data = Bytes;
    type Error = Closed;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Closed>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if !self.cut {
            return Poll::Ready(None);
        }
        if !self.waited {
            // While the body is pending, the connection sends what is available.
            self.waited = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(Closed)))
    }

    fn is_end_stream(&self) -> bool {
        !self.cut && self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.cut {
            true => SizeHint::default(),
            false => SizeHint::with_exact(self.bytes.as_ref().map_or(0, Bytes::len) as u64),
        }
    }
}

/// Builds the response to send. With `cut`, at most that many bytes of its body are sent, always
/// fewer than it has, with the Content-Length of the whole body.
pub(super) fn response(answer: &Answer, head: bool, cut: Option<usize>) -> Response<MockBody> {
    let mut response = Response::new(MockBody::whole(answer.body.clone()));
    *response.status_mut() = status(answer.status);
    let headers = response.headers_mut();
    for (name, value) in &answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_bytes(value.as_bytes());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    // Framing is up to each connection; a response to HEAD includes the length, since there is
    // nothing to count.
    for name in [CONNECTION, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    if !head {
        headers.remove(CONTENT_LENGTH);
    }
    let length = answer.body.len();
    if let Some(cut) = cut.filter(|_| length > 0 && !head) {
        headers.insert(CONTENT_LENGTH, length.into());
        let part = answer.body.slice(..cut.min(length - 1));
        *response.body_mut() = MockBody {
            cut: true,
            ..MockBody::whole(part)
        };
    }
    response
}

/// Converts a number to a status; one that cannot be sent becomes 502.
fn status(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::BAD_GATEWAY)
}

/// Builds a JSON response of the mock itself.
pub(super) fn json(status: StatusCode, value: &Value) -> Response<MockBody> {
    let mut response = Response::new(MockBody::whole(value.to_string()));
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

/// Builds a response that only confirms success.
pub(super) fn done() -> Response<MockBody> {
    let mut response = Response::new(MockBody::whole(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Builds an error response of the mock itself, with a code that the servers do not use.
pub(super) fn refused(status: StatusCode, reason: &str) -> Response<MockBody> {
    json(status, &json!({"code": "mock_error", "message": reason}))
}
