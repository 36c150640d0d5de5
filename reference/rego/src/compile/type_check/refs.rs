//! Type checking of references.

use std::sync::Arc;

use super::details::{invalid_ref, unsupported_ref};
use super::environment::TypeNode;
use super::scope::{Scope, Start, is_root};
use super::unify::{fits, infer};
use crate::Value;
use crate::error::LanguageError;
use crate::syntax::terms::constant;
use crate::syntax::visit::deep;
use crate::syntax::{Connective, Expr, ExprTerms, Ref, Term, TermValue};
use crate::types::{Type, keys_of};

/// Checks every reference of an expression, except those inside of comprehensions, which have their
/// own bodies.
pub(super) fn check(scope: &mut Scope<'_>, expr: &Expr) -> Vec<LanguageError> {
    let mut found = Vec::new();
    in_expr(scope, expr, &mut found);
    found
}

fn in_expr(scope: &mut Scope<'_>, expr: &Expr, found: &mut Vec<LanguageError>) {
    match &expr.terms {
        ExprTerms::Call(call) => {
            for operand in call.iter().skip(1) {
                in_term(scope, operand, found);
            }
            return;
        }
        ExprTerms::Term(term) => {
            in_term(scope, term, found);
            return;
        }
        ExprTerms::Some(decl) => {
            for term in &decl.symbols {
                in_term(scope, term, found);
            }
        }
        ExprTerms::Logic(logic) => {
            deep(|| {
                for expr in logic.operands.iter().flat_map(|operand| &operand.body) {
                    in_expr(scope, expr, found);
                }
            });
            // The modifiers of a negation belong to a term.
            if logic.connective == Connective::Not {
                return;
            }
        }
        ExprTerms::Every(every) => {
            for term in every.key.iter().chain([&every.value, &every.domain]) {
                in_term(scope, term, found);
            }
            deep(|| {
                for expr in &every.body {
                    in_expr(scope, expr, found);
                }
            });
        }
    }
    for with in &expr.with {
        in_term(scope, &with.target, found);
        in_term(scope, &with.value, found);
    }
}

fn in_term(scope: &mut Scope<'_>, term: &Term, found: &mut Vec<LanguageError>) {
    deep(|| match &term.value {
        TermValue::Ref(reference) => {
            if let Some(error) = called(scope, reference) {
                found.push(error);
                return;
            }
            found.extend(in_layers(scope, reference));
            for step in reference {
                in_term(scope, step, found);
            }
        }
        TermValue::Array(items) | TermValue::Set(items) | TermValue::Call(items) => {
            for item in items {
                in_term(scope, item, found);
            }
        }
        TermValue::Object(members) => {
            for (key, value) in members {
                in_term(scope, key, found);
                in_term(scope, value, found);
            }
        }
        TermValue::Template(template) => {
            for part in &template.parts {
                in_expr(scope, part, found);
            }
        }
        _ => {}
    });
}

/// Reports a reference to a function outside of a call.
fn called(scope: &mut Scope<'_>, reference: &Ref) -> Option<LanguageError> {
    let of = scope.of_ref(reference)?;
    of.as_function()?;
    let location = &reference.first()?.location;
    Some(unsupported_ref(
        location,
        reference,
        reference.len().saturating_sub(1),
        &of,
    ))
}

/// Checks a reference through the layers. Variables without a type get that of the keys they range
/// over.
fn in_layers(scope: &mut Scope<'_>, reference: &Ref) -> Option<LanguageError> {
    let head = reference.first()?;
    let TermValue::Var(var) = &head.value else {
        return in_value(scope, reference, Some(Type::any()), 0);
    };
    let mut layer = scope.top();
    loop {
        match scope.start(var, layer) {
            Start::Of(of) => return in_value(scope, reference, of, 1),
            Start::Nothing => {
                let from = usize::from(is_root(var));
                return in_value(scope, reference, Some(Type::any()), from);
            }
            Start::TypedRule(node, next) => match in_tree(scope, reference, node) {
                Ok(done) => return done,
                Err(()) => layer = next,
            },
        }
    }
}

/// Checks a reference through a tree of documents; fails if the tree does not contain it.
fn in_tree(
    scope: &mut Scope<'_>,
    reference: &Ref,
    root: Arc<TypeNode>,
) -> Result<Option<LanguageError>, ()> {
    let mut node = root;
    if let Some(value) = node.value() {
        return Ok(in_value(scope, reference, Some(value.clone()), 1));
    }
    for (index, step) in reference.iter().enumerate().skip(1) {
        let is_name = matches!(step.value, TermValue::Var(_) | TermValue::String(_));
        if index <= 2 && !is_name {
            let have = scope.of_term(step);
            let names = node.keys().cloned().collect();
            let want = Some(&Type::String);
            return Ok(invalid(reference, index, have.as_ref(), want, names, scope));
        }
        if let TermValue::Var(var) = &step.value {
            let keys = node.extent().and_then(|of| of.keys());
            match scope.of_var(var) {
                Some(known) if !fits(keys.as_ref(), Some(&known)) => {
                    let names = node.keys().cloned().collect();
                    let (have, want) = (Some(&known), keys.as_ref());
                    return Ok(invalid(reference, index, have, want, names, scope));
                }
                Some(_) => {}
                None => scope.bind(var, keys),
            }
        }
        let child = constant(step)
            .and_then(|key| node.child(&key).cloned())
            .ok_or(())?;
        if let Some(value) = child.value() {
            return Ok(in_value(scope, reference, Some(value.clone()), index + 1));
        }
        node = child;
    }
    Ok(None)
}

/// Checks the remaining steps of a reference, starting at an index, through a value.
fn in_value(
    scope: &mut Scope<'_>,
    reference: &Ref,
    of: Option<Type>,
    from: usize,
) -> Option<LanguageError> {
    let mut of = of;
    for (index, step) in reference.iter().enumerate().skip(from) {
        if let Some(empty) = of.as_ref().filter(|of| is_empty(of)) {
            return in_nothing(scope, reference, index, step, empty);
        }
        let Some(keys) = of.as_ref().and_then(Type::keys) else {
            let location = &reference.first()?.location;
            let source_ref = scope.with_source_names(reference);
            let have = of.unwrap_or_else(Type::any);
            return Some(unsupported_ref(
                location,
                &source_ref,
                index.saturating_sub(1),
                &have,
            ));
        };
        match &step.value {
            TermValue::Var(var) => match scope.of_var(var) {
                Some(known) if !fits(Some(&known), Some(&keys)) => {
                    let names = of.as_ref().map(keys_of).unwrap_or_default();
                    return invalid(reference, index, Some(&known), Some(&keys), names, scope);
                }
                Some(_) => {}
                None => scope.bind(var, Some(keys)),
            },
            TermValue::Ref(inner) => {
                if let Some(known) = scope.of_ref(inner)
                    && !fits(Some(&known), Some(&keys))
                {
                    let names = of.as_ref().map(keys_of).unwrap_or_default();
                    return invalid(reference, index, Some(&known), Some(&keys), names, scope);
                }
            }
            TermValue::Array(_) | TermValue::Object(_) | TermValue::Set(_) => {
                if !infer(scope, step, Some(&keys), false) {
                    let have = scope.of_term(step);
                    let want = Some(&keys);
                    return invalid(reference, index, have.as_ref(), want, Vec::new(), scope);
                }
            }
            _ => {
                let member = constant(step).and_then(|key| of.as_ref()?.select(&key));
                if member.is_none() {
                    let names = of.as_ref().map(keys_of).unwrap_or_default();
                    return invalid(reference, index, None, Some(&keys), names, scope);
                }
                of = member;
                continue;
            }
        }
        of = of.as_ref().and_then(Type::values);
    }
    None
}

/// Checks a step through an empty collection. A constant key is an error; iteration is not, because
/// a collection may be only temporarily empty.
fn in_nothing(
    scope: &mut Scope<'_>,
    reference: &Ref,
    index: usize,
    step: &Term,
    of: &Type,
) -> Option<LanguageError> {
    match &step.value {
        scalar if scalar.is_scalar() => invalid(reference, index, None, None, Vec::new(), scope),
        TermValue::Var(var) => match (scope.of_var(var), of.keys()) {
            (None, _) => {
                scope.bind(var, Some(Type::any()));
                None
            }
            (Some(known), Some(keys)) if !fits(Some(&known), Some(&keys)) => invalid(
                reference,
                index,
                Some(&known),
                Some(&keys),
                Vec::new(),
                scope,
            ),
            (Some(_), _) => None,
        },
        _ => None,
    }
}

/// Whether a type is that of an empty collection.
fn is_empty(of: &Type) -> bool {
    match of {
        Type::Object(object) => object.members.is_empty() && object.rest.is_none(),
        Type::Array(array) => array.items.is_empty() && array.rest.is_none(),
        Type::Set(set) => set.of.is_none(),
        _ => false,
    }
}

fn invalid(
    reference: &Ref,
    position: usize,
    have: Option<&Type>,
    want: Option<&Type>,
    names: Vec<Value>,
    scope: &Scope<'_>,
) -> Option<LanguageError> {
    let location = &reference.first()?.location;
    let source_ref = scope.with_source_names(reference);
    Some(invalid_ref(
        location,
        &source_ref,
        position,
        have,
        want,
        names,
    ))
}
