//! Access log: a line when a request arrives, and one when its response has been sent.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use http::{Method, StatusCode};
use tracing::{debug, error, info};

use super::remote_addr::Peer;
use crate::log::LogLevel;
use crate::telemetry::RequestSpan;
use crate::units::milliseconds;

/// Last sequence number that this process has assigned, on any listener.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// Sequence number of a request in the log, from 1. It is assigned only when the request is first
/// logged, because threads would contend for the counter.
#[derive(Debug, Clone, Default)]
pub struct Number(OnceLock<u64>);

impl Number {
    /// Returns the sequence number, which is assigned on first use.
    pub fn get(&self) -> u64 {
        let next = || TAKEN.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        *self.0.get_or_init(next)
    }
}

/// Logs an event at the level in the options.
macro_rules! log_event {
    ($level:expr, $($fields:tt)*) => {
        match $level {
            LogLevel::Debug => debug!($($fields)*),
            LogLevel::Info => info!($($fields)*),
            LogLevel::Error => error!($($fields)*),
        }
    };
}

/// Properties of a request when it arrives.
///
/// The query may contain an input document and headers contain tokens, so neither is logged.
#[derive(Debug)]
pub(super) struct RequestInfo {
    pub(super) number: Number,
    /// Peer that sent the request.
    pub(super) client: Peer,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) level: LogLevel,
    pub(super) started: Instant,
}

impl RequestInfo {
    /// Logs the arrival of the request.
    pub(super) fn log(&self) {
        log_event!(
            self.level,
            client_addr = %self.client,
            req_id = self.number.get(),
            req_method = %self.method,
            req_path = self.path,
            "Received request."
        );
    }

    /// Log line of the response with this status, and the span that ends with it.
    pub(super) fn answered(self, status: StatusCode, span: Option<RequestSpan>) -> AccessLine {
        AccessLine {
            request: self,
            status,
            span,
            sent: 0,
        }
    }
}

/// Log line of a response. It is written when the value is dropped: when the last byte of the
/// response is sent, or the client has disconnected.
#[derive(Debug)]
pub(super) struct AccessLine {
    request: RequestInfo,
    status: StatusCode,
    span: Option<RequestSpan>,
    /// Bytes of the body that were sent.
    pub(super) sent: u64,
}

impl Drop for AccessLine {
    fn drop(&mut self) {
        let request = &self.request;
        log_event!(
            request.level,
            client_addr = %request.client,
            req_id = request.number.get(),
            req_method = %request.method,
            req_path = %request.path,
            resp_status = self.status.as_u16(),
            resp_bytes = self.sent,
            resp_duration = milliseconds(request.started.elapsed()),
            "Sent response."
        );
        if let Some(span) = &self.span {
            span.answered(self.status, self.sent);
        }
    }
}
