//! GET /metrics

use crate::Engine;
use http_server::metrics::render;
use http_server::{ApiError, Reply, Request};

/// Returns the metrics of all requests and, if configured, of the plugins' state, in the
/// OpenMetrics text format.
///
/// # Errors
/// `internal_error` when the metrics cannot be encoded.
pub(crate) fn handle(engine: &Engine, _request: &Request) -> Result<Reply, ApiError> {
    let own = engine.plugins().registry(&engine.config().plugins);
    let registries = std::iter::once(&engine.totals().registry).chain(&own);
    render(registries)
}
