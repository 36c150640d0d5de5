//! Assigns locations to copied and generated nodes.

use crate::syntax::{Body, Expr, ExprTerms, Head, Location, Term, TermValue};

/// Sets the location of a head and all nodes in it.
pub(super) fn relocate_head(head: &mut Head, location: &Location) {
    head.location = location.clone();
    let terms = head.reference.iter_mut().chain(&mut head.args);
    for term in terms.chain(&mut head.key).chain(&mut head.value) {
        relocate_term(term, location);
    }
}

/// Sets the location of a body and all nodes in it.
pub(super) fn relocate_body(body: &mut Body, location: &Location) {
    for expression in body {
        relocate_expression(expression, location);
    }
}

fn relocate_expression(expression: &mut Expr, location: &Location) {
    expression.location = location.clone();
    match &mut expression.terms {
        ExprTerms::Term(term) => relocate_term(term, location),
        ExprTerms::Call(terms) => relocate_terms(terms, location),
        ExprTerms::Some(declaration) => relocate_terms(&mut declaration.symbols, location),
        ExprTerms::Every(every) => {
            if let Some(key) = &mut every.key {
                relocate_term(key, location);
            }
            relocate_term(&mut every.value, location);
            relocate_term(&mut every.domain, location);
            relocate_body(&mut every.body, location);
        }
        ExprTerms::Logic(logic) => {
            for operand in &mut logic.operands {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                    relocate_body(&mut operand.body, location);
                });
            }
        }
    }
    for with in &mut expression.with {
        with.location = location.clone();
        relocate_term(&mut with.target, location);
        relocate_term(&mut with.value, location);
    }
}

fn relocate_terms(terms: &mut [Term], location: &Location) {
    for term in terms {
        relocate_term(term, location);
    }
}

fn relocate_term(term: &mut Term, location: &Location) {
    term.location = location.clone();
    match &mut term.value {
        TermValue::Null
        | TermValue::Bool(_)
        | TermValue::Number(_)
        | TermValue::String(_)
        | TermValue::Bytes(_)
        | TermValue::Var(_) => {}
        TermValue::Ref(terms)
        | TermValue::Array(terms)
        | TermValue::Set(terms)
        | TermValue::Call(terms) => relocate_terms(terms, location),
        TermValue::Object(members) => {
            for (key, value) in members {
                relocate_term(key, location);
                relocate_term(value, location);
            }
        }
        TermValue::ArrayComprehension(parts) | TermValue::SetComprehension(parts) => {
            relocate_term(&mut parts.term, location);
            relocate_body(&mut parts.body, location);
        }
        TermValue::ObjectComprehension(parts) => {
            relocate_term(&mut parts.key, location);
            relocate_term(&mut parts.value, location);
            relocate_body(&mut parts.body, location);
        }
        TermValue::Template(template) => relocate_body(&mut template.parts, location),
    }
}
