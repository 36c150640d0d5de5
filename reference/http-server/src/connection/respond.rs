//! Response to one request.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use http::header::CONNECTION;
use http::request::Parts;
use http::{HeaderValue, StatusCode, Version};
use hyper::body::{Body, Incoming};
use tracing::error;

use super::Connection;
use super::activity::{Admission, BodyLength};
use super::exchange::Exchange;
use super::response_stream::TrackedBody;
use crate::access_log::{Number, RequestInfo};
use crate::error::{ApiError, Code};
use crate::reply::Reply;
use crate::request_body::receive;
use crate::response::{Sending, admit};
use crate::service::Service;

/// HTTP response that is being sent.
pub(super) type HttpResponse = hyper::Response<TrackedBody<Sending>>;

impl<S: Service> Connection<S> {
    /// Receives one request, has it answered, and writes the access log.
    pub(super) async fn answer(
        &self,
        request: hyper::Request<Incoming>,
        exchange: Exchange,
    ) -> HttpResponse {
        let started = Instant::now();
        let (parts, body) = request.into_parts();
        let arrival = RequestInfo {
            number: Number::default(),
            client: self.peer,
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            level: self.server.options.log_level_request,
            started,
        };
        arrival.log();
        let version = parts.version;
        let mut reply = self.reply(parts, body, &arrival, &exchange).await;
        let span = reply.span.take();
        let (mut reply, share) = admit(reply, &self.answers).await;
        // The rest of a body is not awaited if it did not arrive in time or its end is unknown.
        let unread = reply.status == StatusCode::REQUEST_TIMEOUT
            || (self.activity.body_length() == BodyLength::Chunked
                && !self.activity.is_body_read());
        if version != Version::HTTP_2 && (unread || self.activity.leaving().is_some()) {
            let close = HeaderValue::from_static("close");
            reply.headers.insert(CONNECTION, close);
        }
        let line = arrival.answered(reply.status, span);
        let exchange = Arc::new(exchange);
        Sending::response(reply, share, line).map(|body| TrackedBody::new(body, exchange))
    }

    /// Answers one request; abandons it when the client has closed its side.
    async fn reply(
        &self,
        parts: Parts,
        body: Incoming,
        arrival: &RequestInfo,
        exchange: &Exchange,
    ) -> Reply {
        self.activity.set_answering(true);
        let reply = tokio::select! {
            biased;
            reply = self.work(parts, body, arrival, exchange) => reply,
            () = exchange.abandoned() => {
                ApiError::new(Code::Unavailable, "the client closed the connection").reply()
            }
        };
        self.activity.set_answering(false);
        reply
    }

    /// Waits until the connection has a full place, receives the request, and has it answered.
    async fn work(
        &self,
        parts: Parts,
        body: Incoming,
        arrival: &RequestInfo,
        exchange: &Exchange,
    ) -> Reply {
        let probes =
            body.is_end_stream() && (self.server.service).is_probe(&parts.method, parts.uri.path());
        if !probes && self.activity.admission().await == Admission::Refused {
            return ApiError::new(Code::Unavailable, "the connection limit is reached").reply();
        }
        let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
        let (limit, timeout) = (
            self.server.service.body_limit(),
            self.server.options.body_timeout,
        );
        self.activity.set_answering(body.is_end_stream());
        let memory = &self.bodies;
        let mut request = match receive(parts, body, limit, timeout, memory).await {
            Ok(request) => request,
            Err(refusal) => return refusal,
        };
        self.activity.set_body_read();
        self.activity.set_answering(true);
        request.client = Some(self.peer);
        request.client_certificates = self.certificates.clone();
        request.number = arrival.number.clone();
        request.arrival.started = arrival.started;
        request.arrival.secure = self.server.tls.is_some();
        request.cancelled = Arc::clone(&exchange.cancelled);
        let answered = AssertUnwindSafe(self.server.service.answer(request)).catch_unwind();
        answered.await.unwrap_or_else(|_| {
            error!(%method, path, "the handler panicked");
            ApiError::server_failed().reply()
        })
    }
}
