//! GET /metrics

use crate::control::Control;
use crate::http::metrics::shown;
use crate::http::{ApiError, Reply, Request};

/// All measurements, in the text format of OpenMetrics.
pub(in crate::control) async fn handle(
    control: &Control,
    _request: &Request,
) -> Result<Reply, ApiError> {
    shown([&control.metrics.registry])
}
