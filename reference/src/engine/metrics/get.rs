//! GET /metrics

use crate::engine::Engine;
use crate::http::metrics::render;
use crate::http::{ApiError, Reply, Request};

/// Returns the metrics of all requests and, if configured, of the plugins' state, in the
/// OpenMetrics text format.
///
/// # Errors
/// `internal_error` when the metrics cannot be encoded.
pub(in crate::engine) fn handle(engine: &Engine, _request: &Request) -> Result<Reply, ApiError> {
    let own = engine.plugins().registry(&engine.config().plugins);
    let registries = std::iter::once(&engine.totals().registry).chain(&own);
    render(registries)
}
