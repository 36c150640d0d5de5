//! Questions about terms and references that several stages ask.

use std::sync::Arc;

use crate::Value;
use crate::syntax::{Module, Ref, Rule, Term, TermValue, Var};
use crate::value::Set;

/// The steps below `data` that lead to a document.
pub(crate) type Path = Vec<Value>;

/// The value of a term that has no variables, references, calls or comprehensions in it.
pub(crate) fn constant(term: &Term) -> Option<Value> {
    Some(match &term.value {
        TermValue::Null => Value::Null,
        TermValue::Bool(value) => Value::Bool(*value),
        TermValue::Number(number) => Value::Number(number.clone()),
        TermValue::String(text) => Value::String(text.clone()),
        TermValue::Array(items) => {
            Value::from(items.iter().map(constant).collect::<Option<Vec<_>>>()?)
        }
        TermValue::Set(items) => Value::from(items.iter().map(constant).collect::<Option<Set>>()?),
        TermValue::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| Some((constant(key)?, constant(value)?)));
            Value::object(members.collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}

/// Whether a term is one of null, booleans, numbers and strings.
pub(crate) fn is_scalar(term: &Term) -> bool {
    matches!(
        term.value,
        TermValue::Null | TermValue::Bool(_) | TermValue::Number(_) | TermValue::String(_)
    )
}

/// The steps of a reference into `data`, up to the first that is not constant; absent for
/// references to something else.
pub(crate) fn data_prefix(reference: &[Term]) -> Option<Path> {
    let (head, steps) = reference.split_first()?;
    is_var(head, "data").then(|| steps.iter().map_while(constant).collect())
}

/// The steps of a reference into `data` all of whose steps are constant.
pub(crate) fn data_path(reference: &[Term]) -> Option<Path> {
    data_prefix(reference).filter(|path| path.len() + 1 == reference.len())
}

/// Whether a term is the variable of this name.
pub(crate) fn is_var(term: &Term, name: &str) -> bool {
    matches!(&term.value, TermValue::Var(var) if *var.0 == *name)
}

/// The variable, if the term is one.
pub(crate) fn as_var(term: &Term) -> Option<&Var> {
    match &term.value {
        TermValue::Var(var) => Some(var),
        _ => None,
    }
}

/// The reference to a rule from the root: its package, then its own reference, of which the
/// name becomes a string.
pub(crate) fn rule_reference(module: &Module, rule: &Rule) -> Ref {
    let mut reference = module.package.path.clone();
    for (index, step) in rule.head.reference.iter().enumerate() {
        match (&step.value, index) {
            (TermValue::Var(name), 0) => reference.push(Term {
                value: TermValue::String(name.0.clone()),
                location: step.location.clone(),
            }),
            _ => reference.push(step.clone()),
        }
    }
    reference
}

/// A name with dots, if the reference consists of a variable and strings: how built-in functions
/// are called.
pub(crate) fn dotted(reference: &[Term]) -> Option<Arc<str>> {
    let (head, steps) = reference.split_first()?;
    let name = as_var(head)?;
    if steps.is_empty() {
        return Some(name.0.clone());
    }
    let mut text = String::from(&*name.0);
    for step in steps {
        match &step.value {
            TermValue::String(part) => {
                text.push('.');
                text.push_str(part);
            }
            _ => return None,
        }
    }
    Some(text.into())
}

/// The operator of a call as a reference: calls of one name have a variable or a reference.
pub(crate) fn operator(call: &[Term]) -> Option<&[Term]> {
    let operator = call.first()?;
    match &operator.value {
        TermValue::Ref(reference) => Some(reference),
        TermValue::Var(_) => Some(std::slice::from_ref(operator)),
        _ => None,
    }
}
