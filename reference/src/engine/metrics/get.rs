//! GET /metrics

use crate::engine::Engine;
use crate::http::metrics::shown;
use crate::http::{ApiError, Reply, Request};

/// The measurements of all requests, in the text format of OpenMetrics.
///
/// # Errors
/// `internal_error` when they cannot be written.
pub(in crate::engine) fn handle(engine: &Engine, _request: &Request) -> Result<Reply, ApiError> {
    shown(&engine.totals().registry)
}
