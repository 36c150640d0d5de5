//! GET /metrics

use crate::engine::Engine;
use crate::http::metrics::render;
use crate::http::{ApiError, Reply, Request};

/// The measurements of all requests and, if the configuration asks for it, the state of the
/// plugins, in the text format of OpenMetrics.
///
/// # Errors
/// `internal_error` when they cannot be written.
pub(in crate::engine) fn handle(engine: &Engine, _request: &Request) -> Result<Reply, ApiError> {
    let own = engine.plugins().registry(&engine.config().plugins);
    let registries = std::iter::once(&engine.totals().registry).chain(&own);
    render(registries)
}
