//! Our side.

use rego::value::from_json;
use rego::{Evaluation, Policy, Query, QueryOptions, Solution, Value};

use super::Outcome;
use super::call::{Call, answers, query};

/// The answers to calls.
pub(super) fn ask(calls: &[Call]) -> Outcome {
    let policy = Policy::default();
    let query = Query::parse(&policy, &query(calls), &QueryOptions::default());
    let query = query.map_err(|errors| errors.to_string())?;
    let documents = Value::Object(rego::value::Object::new());
    let mut evaluation = Evaluation::new(&documents);
    let solutions = query.evaluate(&mut evaluation);
    let solutions = solutions.map_err(|error| error.message)?;
    let bindings = solutions.first().map(Solution::to_value);
    let bindings = bindings.ok_or_else(|| "undefined".to_owned())?;
    // As a client reads it.
    let read = from_json(bindings.to_string().as_bytes());
    let read = read.map_err(|error| error.to_string())?;
    Ok(answers(&read, calls.len()))
}
