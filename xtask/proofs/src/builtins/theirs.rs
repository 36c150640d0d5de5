//! The side of OPA.

use std::error::Error;

use rego::Value;
use rego::value::from_json;
use serde_json::json;

use super::Outcome;
use super::call::{Call, answers, query};
use crate::servers::{Client, RestartingOpa};

/// The answers of the real OPA to calls.
///
/// # Errors
/// OPA cannot be started again behind a panic.
pub(super) fn ask(opa: &mut RestartingOpa, calls: &[Call]) -> Result<Outcome, Box<dyn Error>> {
    let body = json!({"query": query(calls)}).to_string();
    let request = Client::request("POST", "/v1/query", &body);
    let Some(status) = opa.exchange(&request)? else {
        return Ok(Err("the connection was closed".to_owned()));
    };
    let answer = from_json(opa.body())?;
    if status != 200 {
        let errors = answer.get("errors").or_else(|| answer.get("message"));
        return Ok(Err(errors.map(ToString::to_string).unwrap_or_default()));
    }
    let result = answer.get("result").and_then(Value::as_array);
    let bindings = result.and_then(|result| result.get(0));
    Ok(bindings
        .map(|bindings| answers(bindings, calls.len()))
        .ok_or_else(|| "undefined".to_owned()))
}
