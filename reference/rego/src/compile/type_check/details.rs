//! Details of type errors: the type found and the type expected.

use crate::Value;
use crate::error::{Code, LanguageError};
use crate::syntax::terms::shown;
use crate::syntax::{Location, Ref, Term, TermValue, Var};
use crate::types::{Function, Operand, Type, document, operands};

/// Returns the error for operands that do not fit a function. `result`: whether the result counts
/// as the last operand.
pub(crate) fn argument_error(
    location: &Location,
    name: &str,
    what: &str,
    have: Vec<Option<Type>>,
    want: &Function,
    result: bool,
) -> LanguageError {
    let have: Vec<_> = have.iter().map(|of| document(of.as_ref())).collect();
    let mut args: Vec<Operand> = want.args.clone();
    args.extend(want.result.iter().filter(|_| result).cloned());
    let want = operands(&args, want.variadic.as_ref());
    let details = Value::object([("have", Value::from(have)), ("want", want)]);
    typed(location, format!("{name}: {what}"), details)
}

/// Returns the error for two sides that can never be equal.
pub(super) fn match_error(
    location: &Location,
    left: Option<&Type>,
    right: Option<&Type>,
) -> LanguageError {
    let details = Value::object([("a", document(left)), ("b", document(right))]);
    typed(location, "match error".to_owned(), details)
}

/// Returns the error for a step that does not fit, with the names that would fit, or their type.
pub(super) fn invalid_ref(
    location: &Location,
    reference: &Ref,
    position: usize,
    have: Option<&Type>,
    want: Option<&Type>,
    one_of: Vec<Value>,
) -> LanguageError {
    let one_of = if one_of.is_empty() {
        Value::Null
    } else {
        Value::from(one_of)
    };
    let mut members = vec![
        ("ref", steps(reference)),
        ("pos", number(position)),
        ("want", document(want)),
        ("oneOf", one_of),
    ];
    if have.is_some() {
        members.push(("have", document(have)));
    }
    let message = format!("undefined ref: {}", shown(reference, &|_| None));
    typed(location, message, Value::object(members))
}

/// Returns the error for a reference into a value without members, or to a function.
pub(super) fn unsupported_ref(
    location: &Location,
    reference: &Ref,
    position: usize,
    have: &Type,
) -> LanguageError {
    let message = match have {
        Type::Function(_) => {
            let is_local = |term: &Term| match &term.value {
                TermValue::Var(Var(name)) | TermValue::String(name) => name.starts_with("__local"),
                _ => false,
            };
            let named = match reference.split_last() {
                Some((last, before)) if is_local(last) => before,
                _ => reference,
            };
            format!(
                "function {} used as reference, not called",
                shown(named, &|_| None)
            )
        }
        _ => format!("undefined ref: {}", shown(reference, &|_| None)),
    };
    let details = Value::object([
        ("ref", steps(reference)),
        ("pos", number(position)),
        ("have", document(Some(have))),
    ]);
    typed(location, message, details)
}

/// Converts the terms of a reference to a document.
fn steps(reference: &Ref) -> Value {
    Value::from(reference.iter().map(Term::to_json).collect::<Vec<_>>())
}

fn number(position: usize) -> Value {
    Value::from(u64::try_from(position).unwrap_or_default())
}

fn typed(location: &Location, message: String, details: Value) -> LanguageError {
    LanguageError {
        details: Some(details),
        ..LanguageError::at(Code::Type, location, message)
    }
}
