//! GET /v1/data/{path}

use rego::value::input_from_json;

use super::answer;
use crate::Engine;
use crate::metrics::Metrics;
use http_server::{ApiError, Reply, Request};

/// Returns the document at the path in an envelope as a decision; `{}` when it is undefined.
///
/// # Errors
/// `invalid_parameter` when the parameter `input` is not JSON.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_decision(request);
    let input = metrics.time("timer_rego_input_parse_ns", || {
        let parameter = request.last_parameter("input");
        parameter
            .map(|text| input_from_json(text.as_bytes()))
            .transpose()
    });
    let input = input
        .map_err(|error| ApiError::invalid_parameter(format!("parameter `input`: {error}")))?;
    answer(engine, request, input, None, metrics)
}
