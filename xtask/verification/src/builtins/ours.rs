//! Our side: evaluation of calls with our evaluator.

use rego::value::from_json;
use rego::{EvalError, Evaluation, Policy, Query, QueryOptions, Solution, Value};

use super::answers::{Outcome, UNDEFINED};
use super::call::{Call, answers, query};

/// Evaluates calls in one query; returns their values, or the error of the query.
pub(super) fn values(calls: &[Call]) -> Outcome {
    let solutions = evaluate(&query(calls), false)?.map_err(|error| error.message)?;
    let bindings = solutions.first().map(Solution::to_value);
    let bindings = bindings.ok_or_else(|| "undefined".to_owned())?;
    // The results are parsed from JSON, as clients do.
    let read = from_json(bindings.to_string().as_bytes());
    let read = read.map_err(|error| error.to_string())?;
    Ok(answers(&read, calls.len()))
}

/// Evaluates undefined calls in strict mode, and returns the error of each.
pub(super) fn errors(calls: &[Call]) -> Vec<String> {
    let error = |call: &Call| match evaluate(&format!("v := {call}"), true) {
        Ok(Ok(_)) => UNDEFINED.to_owned(),
        Ok(Err(error)) => format!("{}: {}", error.code.as_str(), error.message),
        Err(refused) => refused,
    };
    calls.iter().map(error).collect()
}

/// Evaluates a call and returns its value.
pub(super) fn value(call: &Call) -> Option<Value> {
    let solutions = evaluate(&format!("v := {call}"), false).ok()?.ok()?;
    solutions.first()?.to_value().get("v").cloned()
}

type Evaluated = Result<Vec<Solution>, EvalError>;

fn evaluate(query: &str, strict: bool) -> Result<Evaluated, String> {
    let policy = Policy::default();
    let query = Query::parse(&policy, query, &QueryOptions::default());
    let query = query.map_err(|errors| errors.to_string())?;
    let documents = Value::Object(rego::value::Object::new());
    let mut evaluation = Evaluation::new(&documents);
    evaluation.strict = strict;
    Ok(query.evaluate(&mut evaluation))
}
