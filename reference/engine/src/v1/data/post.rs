//! POST /v1/data/{path}

use rego::Value;

use super::{answer, missing};
use crate::metrics::Metrics;
use crate::{Engine, request_body};
use http_server::{ApiError, Reply, Request};

/// Decides with the input document in the body's member `input`. Without one the response has a
/// warning.
///
/// # Errors
/// `invalid_parameter` when the body is neither JSON nor YAML, or not an object.
pub(crate) fn handle(engine: &Engine, request: &Request) -> Result<Reply, ApiError> {
    let mut metrics = Metrics::of_decision(request);
    let body = metrics.time("timer_rego_input_parse_ns", || request_body::input(request))?;
    let input = match &body {
        None | Some(Value::Null) => None,
        Some(Value::Object(members)) => members.get("input"),
        Some(other) => {
            let message = format!("request body: expected an object, found {}", other.kind());
            return Err(ApiError::invalid_parameter(message));
        }
    };
    let input = input.filter(|input| **input != Value::Null).cloned();
    let warning = input.is_none().then(|| missing("input"));
    answer(engine, request, input, warning, metrics)
}
