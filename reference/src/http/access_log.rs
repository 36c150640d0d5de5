//! The access log: a line when a request arrives, and one when its answer has been handed over.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use http::{Method, StatusCode};
use tracing::{debug, error, info};

use super::remote_addr::Peer;
use crate::log::LogLevel;
use crate::telemetry::RequestSpan;
use crate::units::milliseconds;

/// How many requests of this process have a number, on all its listeners.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// What tells a request from others: the first that is told of has 1. Only who tells of it gives it
/// a number, as threads would wait for each other to count.
#[derive(Debug, Clone, Default)]
pub struct Number(OnceLock<u64>);

impl Number {
    /// The number.
    pub(crate) fn get(&self) -> u64 {
        let next = || TAKEN.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        *self.0.get_or_init(next)
    }
}

/// Says something with the level that the options give.
macro_rules! say {
    ($level:expr, $($said:tt)*) => {
        match $level {
            LogLevel::Debug => debug!($($said)*),
            LogLevel::Info => info!($($said)*),
            LogLevel::Error => error!($($said)*),
        }
    };
}

/// What is known of a request when it arrives.
///
/// The query may hold an input document and headers hold tokens, so neither is logged.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) number: Number,
    /// Who sent it.
    pub(super) client: Peer,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) level: LogLevel,
    pub(super) begun: Instant,
}

impl Arrival {
    /// Writes that the request arrived.
    pub(super) fn tell(&self) {
        say!(
            self.level,
            client_addr = %self.client,
            req_id = self.number.get(),
            req_method = %self.method,
            req_path = self.path,
            "Received request."
        );
    }

    /// The line of the answer with this status, and the span that ends with it.
    pub(super) fn answered(self, status: StatusCode, span: Option<RequestSpan>) -> AccessLine {
        AccessLine {
            request: self,
            status,
            span,
            sent: 0,
        }
    }
}

/// The line of an answer. It is written when this is dropped, which is when the last byte of the
/// answer is handed over, or nobody takes any more.
#[derive(Debug)]
pub(super) struct AccessLine {
    request: Arrival,
    status: StatusCode,
    span: Option<RequestSpan>,
    /// The bytes of the body that were handed over.
    pub(super) sent: u64,
}

impl Drop for AccessLine {
    fn drop(&mut self) {
        let request = &self.request;
        say!(
            request.level,
            client_addr = %request.client,
            req_id = request.number.get(),
            req_method = %request.method,
            req_path = %request.path,
            resp_status = self.status.as_u16(),
            resp_bytes = self.sent,
            resp_duration = milliseconds(request.begun.elapsed()),
            "Sent response."
        );
        if let Some(span) = &self.span {
            span.answered(self.status, self.sent);
        }
    }
}
