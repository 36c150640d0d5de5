//! HTTP/1 connections.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use http::{HeaderMap, StatusCode};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tracing::debug;

use super::Connection;
use super::activity::{Activity, CloseReason};
use super::socket::Socket;
use super::stream::Stream;
use crate::error::{ApiError, Code};
use crate::service::Service;

/// How long an idle connection stays open when the server stops, because a request may be in
/// transit.
pub(super) const UNDER_WAY: Duration = Duration::from_millis(200);

/// Answers the requests of a connection one after the other.
pub(super) async fn serve<S: Service>(connection: Connection<S>, stream: Stream<impl Socket>) {
    let (peer, activity) = (connection.peer, Arc::clone(&connection.activity));
    let timeout = connection.server.options.header_timeout;
    let connection = Arc::new(connection);
    let mut conversation = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeout)
        // The stream detects the end of the client's side itself, even after pipelined requests.
        .half_close(true)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| connection.call(request)),
        );
    let mut leaving = pin!(leaving(&activity));
    let mut left = false;
    let ended = loop {
        tokio::select! {
            biased;
            ended = &mut conversation => break ended,
            reason = &mut leaving, if !left => {
                left = true;
                if reason == CloseReason::Yield && activity.is_idle() {
                    return debug!(%peer, "closed to make room for another connection");
                }
                Pin::new(&mut conversation).graceful_shutdown();
            }
        }
    };
    let parts = conversation.into_parts();
    let mut stream = parts.io.into_inner();
    let Err(failure) = ended else {
        return stream.linger().await;
    };
    debug!(%peer, %failure, "connection failed");
    let status = match stream.refusal() {
        None if failure.is_timeout() && !parts.read_buf.is_empty() => StatusCode::REQUEST_TIMEOUT,
        None => return,
        Some(status) => status,
    };
    match stream.finish(&refusal(status)).await {
        Ok(()) => stream.linger().await,
        Err(failure) => debug!(%peer, %failure, "cannot send the error response"),
    }
}

/// Waits until the connection is asked to end, and a little longer if the server stops. Returns the
/// reason.
async fn leaving(activity: &Activity) -> CloseReason {
    activity.until_leaving(CloseReason::Finish).await;
    if activity.leaving() == Some(CloseReason::Finish) {
        tokio::time::sleep(UNDER_WAY).await;
    }
    activity.leaving().unwrap_or(CloseReason::Finish)
}

/// Encodes the response to a malformed request, which is the last one of a connection.
fn refusal(status: StatusCode) -> Vec<u8> {
    let message = match status {
        StatusCode::REQUEST_TIMEOUT => "the head of the request did not arrive in time",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "the head of the request is too large",
        StatusCode::URI_TOO_LONG => "the target of the request is too long",
        _ => "the head of the request is malformed",
    };
    let reply = ApiError::new(Code::InvalidParameter, message).reply();
    let body = reply.body.bytes();
    let mut answer = head(status, &reply.headers, body.len()).into_bytes();
    answer.extend(body);
    answer
}

/// Head of the last response of a connection.
fn head(status: StatusCode, headers: &HeaderMap, length: usize) -> String {
    let now = Utc::now().format("%a, %d %b %Y %H:%M:%S GMT");
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for (name, value) in headers {
        let value = value.to_str().unwrap_or_default();
        text += &format!("{name}: {value}\r\n");
    }
    text + &format!("connection: close\r\ncontent-length: {length}\r\ndate: {now}\r\n\r\n")
}
