//! Helper functions on terms and references.

use smol_str::SmolStrBuilder;

use super::visit;
use crate::Value;
use crate::syntax::{Expr, ExprTerms, Location, Module, Ref, Rule, Term, TermValue, Var};
use crate::value::{Set, Text};

/// Path of a document, as steps below `data`.
pub(crate) type Path = Vec<Value>;

/// Returns the value of a term without variables, references, calls or comprehensions.
pub(crate) fn constant(term: &Term) -> Option<Value> {
    Some(match &term.value {
        TermValue::Null => Value::Null,
        TermValue::Bool(value) => Value::Bool(*value),
        TermValue::Number(number) => Value::Number(number.clone()),
        TermValue::String(text) => Value::from(text.clone()),
        TermValue::Bytes(bytes) => Value::Bytes(bytes.clone()),
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
    term.value.is_scalar()
}

/// Whether a term is a constant.
pub(crate) fn is_constant(term: &Term) -> bool {
    is_scalar(term) || constant(term).is_some()
}

/// Returns the constant leading steps of a reference into `data`; `None` for references to
/// something else.
pub(crate) fn data_prefix(reference: &[Term]) -> Option<Path> {
    let (head, steps) = reference.split_first()?;
    is_var(head, "data").then(|| steps.iter().map_while(constant).collect())
}

/// Returns the steps of a reference into `data` if all of them are constant.
pub(crate) fn data_path(reference: &[Term]) -> Option<Path> {
    data_prefix(reference).filter(|path| path.len() + 1 == reference.len())
}

/// Whether a term is the variable of this name.
pub(crate) fn is_var(term: &Term, name: &str) -> bool {
    matches!(&term.value, TermValue::Var(var) if *var.0 == *name)
}

/// Returns the variable, if the term is one.
pub(crate) fn as_var(term: &Term) -> Option<&Var> {
    match &term.value {
        TermValue::Var(var) => Some(var),
        _ => None,
    }
}

/// Returns the reference to a rule from the root: its package, then its own reference, of which the
/// name becomes a string.
pub(crate) fn rule_reference(module: &Module, rule: &Rule) -> Ref {
    let (package, own) = (&module.package.path, &rule.head.reference);
    let mut reference = Ref::with_capacity(package.len() + own.len());
    reference.extend_from_slice(package);
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

/// Returns the dotted name of a reference that consists of a variable and strings, as for built-in
/// functions.
pub(crate) fn dotted(reference: &[Term]) -> Option<Text> {
    let (head, steps) = reference.split_first()?;
    let name = as_var(head)?;
    let mut text = SmolStrBuilder::new();
    text.push_str(&name.0);
    for step in steps {
        match &step.value {
            TermValue::String(part) => {
                text.push('.');
                text.push_str(part);
            }
            _ => return None,
        }
    }
    Some(text.finish())
}

/// Returns the operator of a call, a variable or a reference, as a reference.
pub(crate) fn operator(call: &[Term]) -> Option<&[Term]> {
    let operator = call.first()?;
    match &operator.value {
        TermValue::Ref(reference) => Some(reference),
        TermValue::Var(_) => Some(std::slice::from_ref(operator)),
        _ => None,
    }
}

/// Whether an expression is `left = right`.
pub(crate) fn is_equality(expr: &Expr) -> bool {
    match &expr.terms {
        ExprTerms::Call(call) => {
            matches!(operator(call), Some([name]) if is_var(name, "eq"))
        }
        _ => false,
    }
}

/// Returns the operands of a call expression; empty for other expressions.
pub(crate) fn operands(expr: &Expr) -> &[Term] {
    match &expr.terms {
        ExprTerms::Call(call) => call.get(1..).unwrap_or_default(),
        _ => &[],
    }
}

/// Converts a value to a term.
pub(crate) fn of_value(value: &Value, location: &Location) -> TermValue {
    let term = |value: &Value| Term {
        value: of_value(value, location),
        location: location.clone(),
    };
    match value {
        Value::Null => TermValue::Null,
        Value::Bool(value) => TermValue::Bool(*value),
        Value::Number(number) => TermValue::Number(number.clone()),
        Value::String(text) => TermValue::String(text.as_str().into()),
        Value::Bytes(bytes) => TermValue::Bytes(bytes.clone()),
        Value::Array(items) => TermValue::Array(items.iter().map(term).collect()),
        Value::Set(items) => TermValue::Set(items.iter().map(term).collect()),
        Value::Object(members) => {
            let members = members.iter();
            TermValue::Object(
                members
                    .map(|(key, value)| (term(key), term(value)))
                    .collect(),
            )
        }
    }
}

/// Converts a value to a term without a location.
pub(crate) fn term_of_value(value: &Value) -> Term {
    let nowhere = Location {
        file: "".into(),
        row: 0,
        col: 0,
        offset: 0,
        length: 0,
    };
    Term {
        value: of_value(value, &nowhere),
        location: nowhere,
    }
}

/// Formats a reference with the source names of its variables, which `written` returns.
pub(crate) fn shown(reference: &[Term], written: &dyn Fn(&Var) -> Option<Var>) -> String {
    let mut renamed = Term {
        value: TermValue::Ref(reference.into()),
        location: match reference.first() {
            Some(head) => head.location.clone(),
            None => return String::new(),
        },
    };
    rename(&mut renamed, written);
    renamed.to_string()
}

/// Renames the variables of a term for which `name` returns a new name.
pub(crate) fn rename(term: &mut Term, name: &dyn Fn(&Var) -> Option<Var>) {
    struct Renamed<'n>(&'n dyn Fn(&Var) -> Option<Var>);
    impl visit::Rewrite for Renamed<'_> {
        fn term(&mut self, term: &mut Term) -> bool {
            if let TermValue::Var(var) = &mut term.value
                && let Some(name) = (self.0)(var)
            {
                *var = name;
            }
            true
        }
    }
    visit::rewrite_term(term, &mut Renamed(name));
}
