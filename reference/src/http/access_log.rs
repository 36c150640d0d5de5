//! The access log: one line for each request, when its answer has been handed over.

use std::net::SocketAddr;
use std::time::Instant;

use http::{Method, StatusCode};
use tracing::info;

/// The line of one request. It is written when this is dropped, which is when the last byte of
/// the answer is handed over, or nobody takes any more.
///
/// The query may hold an input document and headers hold tokens, so neither is logged.
#[derive(Debug)]
pub(super) struct AccessLine {
    /// Who sent the request.
    pub(super) client: SocketAddr,
    /// The method of the request.
    pub(super) method: Method,
    /// The path of the request.
    pub(super) path: String,
    /// The status of the answer.
    pub(super) status: StatusCode,
    /// The bytes of the body that were handed over.
    pub(super) sent: u64,
    /// When the request began.
    pub(super) begun: Instant,
}

impl Drop for AccessLine {
    fn drop(&mut self) {
        info!(
            client_addr = %self.client,
            req_method = %self.method,
            req_path = self.path,
            resp_status = self.status.as_u16(),
            resp_bytes = self.sent,
            resp_duration_ms = self.begun.elapsed().as_secs_f64() * 1e3,
            "Sent response."
        );
    }
}
