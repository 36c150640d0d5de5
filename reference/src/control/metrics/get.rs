//! GET /metrics

use crate::control::Control;
use crate::http::metrics::render;
use crate::http::{ApiError, Reply, Request};

/// All measurements, in the text format of OpenMetrics.
pub(in crate::control) async fn handle(
    control: &Control,
    _request: &Request,
) -> Result<Reply, ApiError> {
    render([&control.metrics.registry])
}
