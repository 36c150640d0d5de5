//! Conversion of the IR back to the syntax tree, for traces.

use thin_vec::{ThinVec, thin_vec};

use crate::Value;
use crate::ir::{Collect, Comprehension, Every, Operand, Reference, Root, Step};
use crate::syntax::{
    self, Body, Expr, ExprTerms, Location, ObjectComprehension, Term, TermValue, Var,
};

/// Converts a value to a term.
pub(super) fn value(value: &Value) -> TermValue {
    let one = |item: &Value| nowhere(self::value(item));
    match value {
        Value::Null => TermValue::Null,
        Value::Bool(value) => TermValue::Bool(*value),
        Value::Number(number) => TermValue::Number(number.clone()),
        Value::String(text) => TermValue::String(text.as_str().into()),
        Value::Bytes(bytes) => TermValue::Bytes(bytes.clone()),
        Value::Array(items) => TermValue::Array(items.iter().map(one).collect()),
        Value::Set(members) => TermValue::Set(members.iter().map(one).collect()),
        Value::Object(members) => {
            let members = members.iter();
            TermValue::Object(members.map(|(key, value)| (one(key), one(value))).collect())
        }
    }
}

/// Converts a term, with the source names of its variables.
pub(super) fn operand(names: &[Var], bodies: &[&Body], operand: &Operand) -> TermValue {
    let one = |operand: &Operand| nowhere(self::operand(names, bodies, operand));
    match operand {
        Operand::Known(value) => self::value(value),
        Operand::Var(slot) => variable(names, *slot),
        Operand::Array(items) => TermValue::Array(items.iter().map(one).collect()),
        Operand::Set(members) => TermValue::Set(members.iter().map(one).collect()),
        Operand::Object(members) => {
            let members = members.iter();
            TermValue::Object(members.map(|(key, value)| (one(key), one(value))).collect())
        }
        Operand::Reference(reference) => self::reference(names, bodies, reference),
        Operand::Comprehension(of) => comprehension(of, bodies, &one),
    }
}

fn reference(names: &[Var], bodies: &[&Body], reference: &Reference) -> TermValue {
    let one = |operand: &Operand| nowhere(self::operand(names, bodies, operand));
    let head = match &reference.root {
        Root::Data => nowhere(TermValue::Var(Var("data".into()))),
        Root::Input => nowhere(TermValue::Var(Var("input".into()))),
        Root::Term(operand) => one(operand),
    };
    let steps = reference.steps.iter().map(|step| match step {
        Step::One(operand) => one(operand),
        Step::Any(slot) => nowhere(variable(names, *slot)),
    });
    TermValue::Ref(std::iter::once(head).chain(steps).collect())
}

fn comprehension(
    of: &Comprehension,
    bodies: &[&Body],
    one: &dyn Fn(&Operand) -> Term,
) -> TermValue {
    let body = bodies
        .get(of.body.node)
        .copied()
        .cloned()
        .unwrap_or_default();
    match &of.collect {
        Collect::Array(term) => {
            let term = one(term);
            TermValue::ArrayComprehension(Box::new(syntax::Comprehension { term, body }))
        }
        Collect::Set(term) => {
            let term = one(term);
            TermValue::SetComprehension(Box::new(syntax::Comprehension { term, body }))
        }
        Collect::Object(key, value) => {
            let (key, value) = (one(key), one(value));
            TermValue::ObjectComprehension(Box::new(ObjectComprehension { key, value, body }))
        }
    }
}

fn variable(names: &[Var], slot: usize) -> TermValue {
    names
        .get(slot)
        .cloned()
        .map_or(TermValue::Null, TermValue::Var)
}

/// Returns the reference to a path below `data`.
pub(super) fn path(path: &[Value], location: &Location) -> syntax::Ref {
    let head = TermValue::Var(Var("data".into()));
    let steps = path.iter().map(value);
    let steps = std::iter::once(head).chain(steps);
    steps.map(|step| at(step, location)).collect()
}

/// Returns the equation of two terms.
pub(super) fn equality(left: TermValue, right: TermValue, location: &Location) -> Expr {
    let operator = thin_vec![at(TermValue::Var(Var("eq".into())), location)];
    let operator = at(TermValue::Ref(operator), location);
    Expr {
        terms: ExprTerms::Call(thin_vec![operator, at(left, location), at(right, location)]),
        negated: false,
        with: ThinVec::new(),
        index: 0,
        generated: false,
        assigned: false,
        location: location.clone(),
    }
}

/// Returns the expression that iterates over the members of a domain.
pub(super) fn generator(names: &[Var], every: &Every, location: &Location) -> Expr {
    let domain = nowhere(operand(names, &[], &every.domain));
    let mut steps = thin_vec![domain];
    steps.extend(every.key.map(|key| nowhere(variable(names, key))));
    equality(
        TermValue::Ref(steps),
        variable(names, every.value),
        location,
    )
}

/// Returns an expression without `not` and `with`, as the only one of its body.
pub(super) fn without_modifiers(expr: &Expr) -> Expr {
    Expr {
        negated: false,
        with: ThinVec::new(),
        index: 0,
        ..expr.clone()
    }
}

fn at(value: TermValue, location: &Location) -> Term {
    Term {
        value,
        location: location.clone(),
    }
}

fn nowhere(value: TermValue) -> Term {
    at(value, &super::no_location())
}
