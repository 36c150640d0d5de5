//! Errors of modules, queries and evaluations, as listed in error objects, status reports and the
//! decision log.

use rego::error::LanguageError;
use rego::filter::Unsupported;
use rego::syntax::Location;
use rego::value::Object;
use rego::{EvalError, Value};

/// Returns the JSON of an error in a module or a query.
pub fn language(error: &LanguageError) -> Value {
    let mut item = item(error.code.as_str(), &error.message, error.location.as_ref());
    if let Some(details) = &error.details {
        item.insert("details", details.clone());
    }
    Value::from(item)
}

/// Returns the JSON of an evaluation error, with the stack of open queries.
pub fn evaluation(error: &EvalError) -> Value {
    let mut item = item(error.code.as_str(), &error.message, error.location.as_ref());
    let stack = error.stack.iter().map(|(query, at)| {
        Value::object([
            ("query_id", Value::from(*query)),
            ("location", location(at)),
        ])
    });
    let stack: Vec<Value> = stack.collect();
    if !stack.is_empty() {
        item.insert("stack_trace", Value::from(stack));
    }
    Value::from(item)
}

/// Returns the JSON of an error about an expression that cannot be translated to a filter.
pub fn filter(refusal: &Unsupported) -> Value {
    let mut item = item(refusal.code, &refusal.message, refusal.location.as_ref());
    if let Some(advice) = &refusal.advice {
        let details = Value::object([("details", Value::from(advice.as_str()))]);
        item.insert("details", details);
    }
    Value::from(item)
}

fn item(code: &str, message: &str, place: Option<&Location>) -> Object {
    let mut item = Object::new();
    item.insert("code", Value::from(code));
    item.insert("message", Value::from(message));
    if let Some(place) = place {
        item.insert("location", location(place));
    }
    item
}

/// Location in the format of errors: `file`, `row` and `col`.
pub fn location(location: &Location) -> Value {
    Value::object([
        ("file", Value::from(&*location.file)),
        ("row", Value::from(u64::from(location.row))),
        ("col", Value::from(u64::from(location.col))),
    ])
}
