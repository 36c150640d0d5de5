//! What is wrong with modules, queries and evaluations, as error objects.

use rego::error::{EvalCode, LanguageError};
use rego::filter::Refusal;
use rego::syntax::Location;
use rego::{Errors, EvalError};
use serde_json::{Value, json};

use crate::http::{ApiError, Code, Request};

/// 400: a module that cannot be compiled. Of one without any statement the message says so.
pub(super) fn module(errors: &Errors) -> ApiError {
    if let [only] = errors.0.as_slice()
        && only.location.as_ref().is_some_and(|at| at.row == 0)
    {
        return ApiError::invalid_parameter(only.to_string());
    }
    refused("error(s) occurred while compiling module(s)", errors)
}

/// 400: a query that cannot be parsed; 500 for a statement that is no query.
pub(super) fn unparsed(errors: &Errors) -> ApiError {
    if let [only] = errors.0.as_slice()
        && only.location.is_none()
    {
        return ApiError::new(Code::InternalError, only.message.clone());
    }
    refused("error(s) occurred while parsing query", errors)
}

/// 400: a query of the Compile API that cannot be parsed, or a statement that is none.
pub(super) fn misread(errors: &Errors) -> ApiError {
    match errors.0.as_slice() {
        [only] if only.location.is_none() => {
            let message = format!("error(s) occurred while parsing query: {}", only.message);
            ApiError::invalid_parameter(message)
        }
        _ => unparsed(errors),
    }
}

/// 400: what is named as unknown and is no reference.
pub(super) fn unknowns(errors: &Errors) -> ApiError {
    ApiError::invalid_parameter(format!(
        "error(s) occurred while parsing unknowns: {errors}"
    ))
}

/// 400: a query that cannot be compiled.
pub(super) fn uncompiled(errors: &Errors) -> ApiError {
    refused("error(s) occurred while compiling query", errors)
}

/// 500: an evaluation for a request that failed; 503 if there was no memory left for it. If it
/// was a trial that takes too long, that is given up.
pub(super) fn ended(request: &Request, error: &EvalError) -> ApiError {
    if let (EvalCode::Trial, Some(trial)) = (error.code, &request.trial) {
        trial.give_up();
    }
    match error.code {
        EvalCode::Memory => ApiError::new(Code::Unavailable, error.message.clone()),
        _ => evaluation(error),
    }
}

/// 500: an evaluation that failed.
fn evaluation(error: &EvalError) -> ApiError {
    let mut item = json!({"code": error.code.as_str(), "message": error.message});
    add(&mut item, "location", error.location.as_ref().map(location));
    let stack = error.stack.iter();
    let stack = stack.map(|(query, at)| json!({"query_id": query, "location": location(at)}));
    let stack: Vec<Value> = stack.collect();
    add(
        &mut item,
        "stack_trace",
        (!stack.is_empty()).then(|| Value::from(stack)),
    );
    let message = "error(s) occurred while evaluating query";
    let mut refusal = ApiError::new(Code::InternalError, message);
    refusal.errors = vec![item];
    refusal
}

/// 400: a rule that is no filter.
pub(super) fn filter(refusals: &[Refusal]) -> ApiError {
    let items = refusals.iter().map(|refusal| {
        let mut item = json!({"code": refusal.code, "message": refusal.message});
        add(
            &mut item,
            "location",
            refusal.location.as_ref().map(location),
        );
        let advice = refusal.advice.as_ref();
        add(
            &mut item,
            "details",
            advice.map(|advice| json!({"details": advice})),
        );
        item
    });
    let message = "error(s) occurred while evaluating query";
    let mut refusal = ApiError::new(Code::EvaluationError, message);
    refusal.errors = items.collect();
    refusal
}

fn refused(message: &str, errors: &Errors) -> ApiError {
    let mut refusal = ApiError::invalid_parameter(message);
    refusal.errors = errors.0.iter().map(item).collect();
    refusal
}

/// A mistake as error objects and status reports list it.
pub(crate) fn item(error: &LanguageError) -> Value {
    let mut item = json!({"code": error.code.as_str(), "message": error.message});
    add(&mut item, "location", error.location.as_ref().map(location));
    let details = error.details.as_ref();
    let details = details.and_then(|details| serde_json::from_str(&details.to_string()).ok());
    add(&mut item, "details", details);
    item
}

fn location(location: &Location) -> Value {
    json!({"file": &*location.file, "row": location.row, "col": location.col})
}

/// Adds a member that may be absent.
fn add(item: &mut Value, name: &str, value: Option<Value>) {
    if let (Some(members), Some(value)) = (item.as_object_mut(), value) {
        members.insert(name.to_owned(), value);
    }
}
