//! GET /metrics

use crate::Control;
use http_server::metrics::render;
use http_server::{ApiError, Reply, Request};

/// Returns all metrics in the OpenMetrics text format.
pub(crate) async fn handle(control: &Control, _request: &Request) -> Result<Reply, ApiError> {
    render([&control.metrics.registry])
}
