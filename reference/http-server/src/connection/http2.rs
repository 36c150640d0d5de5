//! HTTP/2 connections, each within memory limits.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tracing::debug;

use super::Connection;
use super::activity::CloseReason;
use super::socket::Socket;
use super::stream::Stream;
use crate::service::Service;

/// Maximum number of concurrent requests of one connection.
const STREAMS: u32 = 128;

/// Maximum bytes of headers of one request.
const HEADERS: u32 = 64 << 10;

/// Receive windows of a body, and of all bodies of a connection, in bytes.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// Maximum buffered bytes of one response.
const SEND_BUFFER: usize = 64 << 10;

/// Maximum number of streams that the client has reset before the server accepted them, and of
/// streams that the server has reset for errors of the client; then the connection ends.
const PENDING_RESETS: usize = 20;
const ERROR_RESETS: usize = 256;

/// Timeout for the response to a ping.
const PONG: Duration = Duration::from_secs(20);

/// Time between the shutdown notice to an idle connection and its close, which makes room for
/// another.
const FAREWELL: Duration = Duration::from_millis(100);

/// Minimum interval between two checks for stalled responses.
const LOOK_PERIOD: Duration = Duration::from_millis(20);

/// Answers the requests of a connection concurrently.
pub(super) async fn serve<S: Service>(connection: Connection<S>, stream: Stream<impl Socket>) {
    let (peer, activity) = (connection.peer, Arc::clone(&connection.activity));
    let (header_timeout, write_timeout) = {
        let options = &connection.server.options;
        (options.header_timeout, options.write_timeout)
    };
    let connection = Arc::new(connection);
    let mut conversation = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(header_timeout)
        .keep_alive_timeout(PONG)
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEADERS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .max_pending_accept_reset_streams(PENDING_RESETS)
        .max_local_error_reset_streams(ERROR_RESETS)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| connection.call(request)),
        );
    let mut looks = interval((write_timeout / 8).max(LOOK_PERIOD));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut finishing = pin!(activity.until_leaving(CloseReason::Finish));
    let mut yielding = pin!(async {
        activity.until_leaving(CloseReason::Yield).await;
        sleep(FAREWELL).await;
    });
    let (mut finished, mut yielded) = (false, false);
    let ended = loop {
        tokio::select! {
            biased;
            ended = &mut conversation => break ended,
            () = &mut finishing, if !finished => {
                finished = true;
                Pin::new(&mut conversation).graceful_shutdown();
            }
            () = &mut yielding, if !yielded => {
                yielded = true;
                if activity.is_idle() {
                    return debug!(%peer, "closed to make room for another connection");
                }
            }
            _ = looks.tick() => if activity.is_stalled(write_timeout) {
                return debug!(%peer, "the client does not read responses");
            }
        }
    };
    if let Err(failure) = ended {
        debug!(%peer, %failure, "connection failed");
    }
}
