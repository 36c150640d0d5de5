//! GET /v1/query

use super::answer;
use crate::Engine;
use crate::metrics::Metrics;
use http_server::{ApiError, Reply, Request};

/// Answers the ad hoc query in the parameter `q`.
///
/// # Errors
/// `invalid_parameter` without the parameter `q` or when the query cannot be parsed or compiled,
/// `internal_error` when the query is empty or its evaluation fails.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let metrics = Metrics::of_decision(request);
    let text = request.last_parameter("q");
    let text = text.ok_or_else(|| ApiError::invalid_parameter("parameter `q` is missing"))?;
    answer(engine, request, text, None, metrics)
}
