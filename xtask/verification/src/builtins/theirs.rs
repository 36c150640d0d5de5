//! OPA's side: evaluation of calls with OPA over HTTP.

use std::error::Error;

use rego::Value;
use rego::value::from_json;
use serde_json::json;

use super::answers::{Outcome, UNDEFINED};
use super::call::{self, Call};
use crate::servers::{Client, RestartingOpa};

/// Returns the outcome of a request during which OPA panics.
fn closed() -> Outcome {
    Err("the connection was closed".to_owned())
}

/// Evaluates calls in one query; returns their values, or the error of the query.
///
/// # Errors
/// When OPA cannot be restarted after a panic.
pub(super) fn values(opa: &mut RestartingOpa, calls: &[Call]) -> Result<Outcome, Box<dyn Error>> {
    let body = json!({"query": call::query(calls)}).to_string();
    let request = Client::request("POST", "/v1/query", &body);
    let Some(status) = opa.exchange(&request)? else {
        return Ok(closed());
    };
    let answer = from_json(opa.body())?;
    if status != 200 {
        let errors = answer.get("errors").or_else(|| answer.get("message"));
        return Ok(Err(errors.map(ToString::to_string).unwrap_or_default()));
    }
    let result = answer.get("result").and_then(Value::as_array);
    let bindings = result.and_then(|result| result.get(0));
    Ok(bindings
        .map(|bindings| call::answers(bindings, calls.len()))
        .ok_or_else(|| "undefined".to_owned()))
}

/// Evaluates undefined calls, each as a rule of one module; returns their errors.
///
/// # Errors
/// When OPA cannot be restarted, as for [`values`].
pub(super) fn errors(opa: &mut RestartingOpa, calls: &[Call]) -> Result<Outcome, Box<dyn Error>> {
    let request = Client::request("PUT", "/v1/policies/calls", &call::module(calls));
    match opa.exchange(&request)? {
        Some(200) => {}
        Some(_) => return Ok(Err(String::from_utf8_lossy(opa.body()).into_owned())),
        None => return Ok(closed()),
    }
    let mut errors = Vec::new();
    for at in 0..calls.len() {
        let path = format!("/v1/data/calls/r{at:02}?strict-builtin-errors");
        if opa.exchange(&Client::request("GET", &path, ""))?.is_none() {
            return Ok(closed());
        }
        errors.push(error(opa.body())?);
    }
    Ok(Ok(errors))
}

/// Returns the error message in a response of OPA.
fn error(body: &[u8]) -> Result<String, Box<dyn Error>> {
    let answer = from_json(body)?;
    let errors = answer.get("errors").and_then(Value::as_array);
    let error = errors.and_then(|errors| errors.get(0)).unwrap_or(&answer);
    let member = |name| error.get(name).and_then(Value::as_str).unwrap_or_default();
    Ok(match member("code") {
        "" if answer.get("result").is_none() => UNDEFINED.to_owned(),
        code => format!("{code}: {}", member("message")),
    })
}
