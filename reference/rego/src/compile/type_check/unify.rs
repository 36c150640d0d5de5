//! Unification of types.

use super::scope::Scope;
use crate::syntax::terms::constant;
use crate::syntax::visit::deep;
use crate::syntax::{Term, TermValue};
use crate::types::{Array, Object, Type};

/// Whether a value can be of both types. An unknown type fits nothing.
pub(crate) fn fits(left: Option<&Type>, right: Option<&Type>) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        return false;
    };
    match (left, right) {
        (Type::Any(any), other) | (other, Type::Any(any)) => {
            // If both sides are unions, the left is tried first, then the right.
            (!matches!(other, Type::Function(_))
                && (any.of.is_empty() || any.of.iter().any(|of| fits(Some(of), Some(other)))))
                || match other {
                    Type::Any(any) => any.of.is_empty(),
                    _ => false,
                }
        }
        (Type::Array(left), Type::Array(right)) => {
            items_fit(left, right)
                && items_fit(right, left)
                && rest_fits(left.rest.as_ref(), right.rest.as_ref())
        }
        (Type::Object(left), Type::Object(right)) => {
            let rest = |object: &Object| object.rest.as_ref().and_then(|(_, of)| of.clone());
            members_fit(left, right)
                && members_fit(right, left)
                && rest_fits(rest(left).as_ref(), rest(right).as_ref())
        }
        (Type::Set(left), Type::Set(right)) => rest_fits(left.of.as_ref(), right.of.as_ref()),
        (Type::Function(left), Type::Function(right)) => {
            left.args.len() == right.args.len()
                && left
                    .args
                    .iter()
                    .zip(&right.args)
                    .all(|(left, right)| fits(left.of.as_ref(), right.of.as_ref()))
        }
        (Type::Null, Type::Null)
        | (Type::Boolean, Type::Boolean)
        | (Type::Number, Type::Number)
        | (Type::String, Type::String) => true,
        _ => false,
    }
}

/// Whether the types of further members fit, if both are known.
fn rest_fits(left: Option<&Type>, right: Option<&Type>) -> bool {
    left.is_none() || right.is_none() || fits(left, right)
}

fn items_fit(left: &Array, right: &Array) -> bool {
    left.items.iter().enumerate().all(|(index, item)| {
        let other = right.items.get(index).unwrap_or(&right.rest);
        fits(item.as_ref(), other.as_ref())
    })
}

fn members_fit(left: &Object, right: &Object) -> bool {
    let open = |object: &Object| object.rest.as_ref().is_some_and(|(_, of)| of.is_some());
    left.members
        .iter()
        .all(|(key, of)| match right.select(key) {
            Some(other) => fits(of.as_ref(), Some(&other)),
            None => open(left) || open(right),
        })
}

/// Infers the types of a term's variables from its own type. Returns whether that is possible.
pub(super) fn infer(scope: &mut Scope<'_>, term: &Term, of: Option<&Type>, union: bool) -> bool {
    deep(|| match &term.value {
        TermValue::Array(items) => match of {
            Some(Type::Array(array)) => {
                if items.len() != array.items.len() && array.rest.is_none() {
                    return false;
                }
                let mut items = items.iter().enumerate();
                items.all(|(index, item)| {
                    let of = array.items.get(index).unwrap_or(&array.rest);
                    infer(scope, item, of.as_ref(), union)
                })
            }
            Some(Type::Any(any)) => infer_any(scope, term, &any.of),
            _ => false,
        },
        TermValue::Object(members) => match of {
            Some(Type::Object(object)) => infer_members(scope, members, object, union),
            Some(Type::Any(any)) => infer_any(scope, term, &any.of),
            _ => false,
        },
        TermValue::Set(items) => match of {
            Some(Type::Set(set)) => {
                let mut items = items.iter();
                items.all(|item| infer(scope, item, set.of.as_ref(), union))
            }
            Some(Type::Any(any)) => infer_any(scope, term, &any.of),
            _ => false,
        },
        TermValue::Var(var) => {
            let known = scope.of_var(var);
            if union {
                scope.bind(var, Type::or(known, of.cloned()));
                true
            } else if known.is_some() {
                fits(known.as_ref(), of)
            } else {
                scope.bind(var, of.cloned());
                true
            }
        }
        _ => {
            let known = scope.of_term(term);
            fits(known.as_ref(), of)
        }
    })
}

/// Infers the types of a collection's variables if it is of one of these types, or of any type if
/// there are none. Returns whether that is possible.
fn infer_any(scope: &mut Scope<'_>, term: &Term, of: &[Type]) -> bool {
    if !of.is_empty() {
        // Every type that fits adds to the types of the variables.
        let mut matched = false;
        for of in of {
            matched |= infer(scope, term, Some(of), true);
        }
        return matched;
    }
    let any = Type::any();
    match &term.value {
        TermValue::Array(items) | TermValue::Set(items) => {
            for item in items {
                infer(scope, item, Some(&any), true);
            }
        }
        TermValue::Object(members) => {
            for (key, value) in members {
                infer(scope, key, Some(&any), true);
                infer(scope, value, Some(&any), true);
            }
        }
        _ => {}
    }
    true
}

fn infer_members(
    scope: &mut Scope<'_>,
    members: &[(Term, Term)],
    object: &Object,
    union: bool,
) -> bool {
    let is_open = object.rest.as_ref().is_some_and(|(_, of)| of.is_some());
    if members.len() != object.members.len() && !is_open {
        return false;
    }
    members.iter().all(|(key, value)| match constant(key) {
        Some(key) => {
            let of = object.select(&key);
            of.is_some() && infer(scope, value, of.as_ref(), union)
        }
        None => {
            infer(scope, value, Some(&Type::any()), union);
            true
        }
    })
}

/// Unifies the types of two terms. Returns whether that is possible.
pub(super) fn equate(
    scope: &mut Scope<'_>,
    left: &Term,
    left_of: Option<&Type>,
    right: &Term,
    right_of: Option<&Type>,
) -> bool {
    let is_open = |of: Option<&Type>| of.is_none_or(Type::is_unknown);
    match (is_open(left_of), is_open(right_of)) {
        (true, false) => return infer(scope, left, right_of, false),
        (false, true) => return infer(scope, right, left_of, false),
        (false, false) => return fits(left_of, right_of),
        (true, true) => {}
    }
    deep(|| match (&left.value, &right.value) {
        (TermValue::Array(items), TermValue::Array(others)) => {
            items.len() == others.len()
                && items
                    .iter()
                    .zip(others)
                    .all(|(item, other)| equate_parts(scope, item, other))
        }
        (TermValue::Object(members), TermValue::Object(others)) => {
            members.len() == others.len()
                && members.iter().all(|(key, value)| {
                    let other = others.binary_search_by(|(other, _)| other.cmp(key));
                    let other = other.ok().and_then(|at| others.get(at));
                    let other = other.or_else(|| others.iter().find(|(other, _)| other == key));
                    other.is_some_and(|(_, other)| equate_parts(scope, value, other))
                })
        }
        (TermValue::Array(_) | TermValue::Object(_) | TermValue::Var(_), TermValue::Var(_)) => {
            infer(scope, left, Some(&Type::any()), false) && {
                let of = scope.of_term(left);
                infer(scope, right, of.as_ref(), false)
            }
        }
        (TermValue::Var(_), TermValue::Array(_) | TermValue::Object(_)) => {
            infer(scope, right, Some(&Type::any()), false) && {
                let of = scope.of_term(right);
                infer(scope, left, of.as_ref(), false)
            }
        }
        // A member of an empty collection has no known type; there is nothing to compare.
        (TermValue::Var(_), TermValue::Ref(_)) if left_of.is_none() && right_of.is_none() => {
            infer(scope, left, Some(&Type::any()), false)
        }
        (TermValue::Ref(_), TermValue::Var(_)) if left_of.is_none() && right_of.is_none() => {
            infer(scope, right, Some(&Type::any()), false)
        }
        // A variable of unknown type gets the type of the other side.
        (TermValue::Var(_), _) if left_of.is_none() && right_of.is_some() => {
            infer(scope, left, right_of, false)
        }
        (_, TermValue::Var(_)) if right_of.is_none() && left_of.is_some() => {
            infer(scope, right, left_of, false)
        }
        _ => false,
    })
}

fn equate_parts(scope: &mut Scope<'_>, left: &Term, right: &Term) -> bool {
    let (left_of, right_of) = (scope.of_term(left), scope.of_term(right));
    equate(scope, left, left_of.as_ref(), right, right_of.as_ref())
}
