//! One request and its response.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use http::header::CONNECTION;
use http::request::Parts;
use http::{HeaderValue, StatusCode, Version};
use hyper::body::{Body, Incoming};
use tracing::error;

use super::Connection;
use super::activity::{Activity, Admission, BodyLength};
use super::response_stream::Sent;
use crate::http::access_log::{Arrival, Number};
use crate::http::error::{ApiError, Code};
use crate::http::reply::Reply;
use crate::http::request_body::receive;
use crate::http::response::{Sending, admit};
use crate::http::service::Service;

/// An answer on its way.
pub(super) type HttpResponse = hyper::Response<Sent<Sending>>;

/// How long the work on a request goes on undisturbed when its client has closed its side. A client
/// that has sent all it has to say, and closes only that side, is given what is answered quickly.
const GRACE: Duration = Duration::from_millis(100);

/// How long the request may then still take to be answered, once the work is cancelled.
const CANCELLED: Duration = Duration::from_millis(900);

/// The time from a request's head to the last byte of its answer. When it is over, whoever still
/// works on the answer is told so.
#[derive(Debug)]
pub(super) struct Exchange {
    activity: Arc<Activity>,
    cancelled: Arc<AtomicBool>,
    /// Whether answers are sent in parts that clients have to make room for.
    multiplexed: bool,
}

impl Exchange {
    /// Begins with the head of a request.
    pub(super) fn begin(activity: &Arc<Activity>, request: &hyper::Request<Incoming>) -> Self {
        let length = request.body().size_hint().exact();
        activity.begin_exchange(length.map_or(BodyLength::Chunked, BodyLength::Exact));
        Self {
            activity: Arc::clone(activity),
            cancelled: Arc::default(),
            multiplexed: request.version() == Version::HTTP_2,
        }
    }

    pub(super) fn begin_part(&self) {
        if self.multiplexed {
            self.activity.begin_part();
        }
    }

    pub(super) fn end_part(&self) {
        if self.multiplexed {
            self.activity.end_part();
        }
    }

    pub(super) fn note_progress(&self) {
        if self.multiplexed {
            self.activity.note_progress();
        }
    }

    /// Ends when the answer is to be given up: the client has closed its side, the work was
    /// cancelled, and goes on all the same.
    async fn abandoned(&self) {
        self.activity.gone().await;
        tokio::time::sleep(GRACE).await;
        self.cancelled.store(true, Ordering::Relaxed);
        tokio::time::sleep(CANCELLED).await;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.activity.end_exchange();
    }
}

impl<S: Service> Connection<S> {
    /// Reads one request, has it answered, and writes the access log.
    pub(super) async fn answer(
        &self,
        request: hyper::Request<Incoming>,
        exchange: Exchange,
    ) -> HttpResponse {
        let begun = Instant::now();
        let (parts, body) = request.into_parts();
        let arrival = Arrival {
            number: Number::default(),
            client: self.peer,
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            level: self.server.options.log_level_request,
            begun,
        };
        arrival.tell();
        let version = parts.version;
        let mut reply = self.reply(parts, body, &arrival, &exchange).await;
        let span = reply.span.take();
        let (mut reply, share) = admit(reply, &self.answers).await;
        // What is left of a body is not waited for, when it did not come in time or its end is not
        // known.
        let unread = reply.status == StatusCode::REQUEST_TIMEOUT
            || (self.activity.body_length() == BodyLength::Chunked
                && !self.activity.is_body_read());
        if version != Version::HTTP_2 && (unread || self.activity.leaving().is_some()) {
            let close = HeaderValue::from_static("close");
            reply.headers.insert(CONNECTION, close);
        }
        let line = arrival.answered(reply.status, span);
        let exchange = Arc::new(exchange);
        Sending::response(reply, share, line).map(|body| Sent::new(body, exchange))
    }

    /// The answer to one request, which is given up when the client has closed its side.
    async fn reply(
        &self,
        parts: Parts,
        body: Incoming,
        arrival: &Arrival,
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

    /// Waits for a place, reads the request, and has it answered.
    async fn work(
        &self,
        parts: Parts,
        body: Incoming,
        arrival: &Arrival,
        exchange: &Exchange,
    ) -> Reply {
        let probes =
            body.is_end_stream() && (self.server.service).is_probe(&parts.method, parts.uri.path());
        if !probes && self.activity.turn().await == Admission::Refused {
            return ApiError::new(Code::Unavailable, "the server has no connection left").reply();
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
        request.arrival.begun = arrival.begun;
        request.arrival.secure = self.server.tls.is_some();
        request.cancelled = Arc::clone(&exchange.cancelled);
        let answered = AssertUnwindSafe(self.server.service.answer(request)).catch_unwind();
        answered.await.unwrap_or_else(|_| {
            error!(%method, path, "the handler panicked");
            ApiError::server_failed().reply()
        })
    }
}
