//! GET /metrics

use crate::control::Control;
use crate::http::metrics::render;
use crate::http::{ApiError, Reply, Request};

/// Returns all metrics in the OpenMetrics text format.
pub(in crate::control) async fn handle(
    control: &Control,
    _request: &Request,
) -> Result<Reply, ApiError> {
    render([&control.metrics.registry])
}
