//! POST /v1/query

use rego::Value;

use super::answer;
use crate::metrics::Metrics;
use crate::{Engine, request_body};
use http_server::{ApiError, Reply, Request};

/// Answers the ad hoc query in the body's member `query`, with the member `input` as the input
/// document.
///
/// # Errors
/// `invalid_parameter` when the body is not an object with a string `query`, or the query cannot be
/// parsed or compiled; `internal_error` when the query is empty or its evaluation fails.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_decision(request);
    let timer = "timer_rego_input_parse_ns";
    let body = metrics.time(timer, || request_body::object(request))?;
    let text = request_body::string(&body, "query")?;
    let input = body.get("input").filter(|input| **input != Value::Null);
    answer(engine, request, text, input, metrics)
}
