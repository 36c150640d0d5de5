//! Unification of partially known terms.

use super::solver::Solver;
use super::terms::{self, Sym, any_var, is_composite};
use crate::Value;
use crate::syntax::terms::{constant, dotted, operator};
use crate::syntax::{ExprTerms, Location, Term, TermValue, Var};
use crate::types::signature;

impl Solver<'_> {
    /// Unifies two terms: binds free variables, and saves what cannot be decided. Returns whether
    /// the terms can be equal at all.
    pub(super) fn unify(&mut self, left: Sym, right: Sym, location: &Location) -> bool {
        match (self.bindings.resolved(left), self.bindings.resolved(right)) {
            (Sym::Known(left), Sym::Known(right)) => left == right,
            (Sym::Known(value), Sym::Term(term)) => self.unify_value(&value, term, false, location),
            (Sym::Term(term), Sym::Known(value)) => self.unify_value(&value, term, true, location),
            (Sym::Term(left), Sym::Term(right)) => self.unify_terms(left, right, location),
        }
    }

    fn free(&self, term: &Term) -> Option<Var> {
        match &term.value {
            TermValue::Var(name) if self.bindings.is_free(name) => Some(name.clone()),
            _ => None,
        }
    }

    fn unify_value(&mut self, value: &Value, term: Term, first: bool, location: &Location) -> bool {
        if let Some(name) = self.free(&term) {
            self.bindings.bind(&name, Sym::Known(value.clone()));
            return true;
        }
        match &term.value {
            TermValue::Array(items) => match value.as_array() {
                Some(values) if values.len() == items.len() => {
                    let pairs = values.iter().zip(items);
                    let mut pairs = pairs.map(|(value, item)| (value.clone(), item.clone()));
                    pairs.all(|(value, item)| {
                        self.unify(Sym::Known(value), Sym::from(item), location)
                    })
                }
                _ => false,
            },
            TermValue::Object(members) => {
                let keys: Option<Vec<_>> = members.iter().map(|(key, _)| constant(key)).collect();
                match (value.as_object(), keys) {
                    (None, _) => false,
                    (Some(values), Some(keys)) => {
                        values.len() == members.len()
                            && keys.iter().zip(members.iter()).all(|(key, (_, member))| {
                                values.get_value(key).is_some_and(|value| {
                                    let member = Sym::from(member.clone());
                                    self.unify(Sym::Known(value.clone()), member, location)
                                })
                            })
                    }
                    (Some(_), None) => {
                        self.equate(term, terms::value(value, location, self.meter), first)
                    }
                }
            }
            TermValue::Set(_) if value.as_set().is_none() => false,
            _ => self.equate(term, terms::value(value, location, self.meter), first),
        }
    }

    fn unify_terms(&mut self, left: Term, right: Term, location: &Location) -> bool {
        if left == right && !any_var(&left, |name| self.bindings.is_free(name)) {
            if matches!(left.value, TermValue::Ref(_) | TermValue::Call(_)) {
                self.bindings.require_defined(left);
            }
            return true;
        }
        if let Some(name) = self.free(&left) {
            return self.bind(&name, right, location);
        }
        if let Some(name) = self.free(&right) {
            return self.bind(&name, left, location);
        }
        match (&left.value, &right.value) {
            (TermValue::Array(lefts), TermValue::Array(rights)) => {
                let pairs = lefts.iter().zip(rights);
                lefts.len() == rights.len()
                    && pairs.into_iter().all(|(left, right)| {
                        self.unify(Sym::from(left.clone()), Sym::from(right.clone()), location)
                    })
            }
            (TermValue::Object(lefts), TermValue::Object(rights)) => {
                let keys = |members: &[(Term, Term)]| {
                    let keys = members.iter().map(|(key, _)| constant(key));
                    keys.collect::<Option<Vec<_>>>()
                };
                match (keys(lefts), keys(rights)) {
                    (Some(member), Some(other)) => {
                        member == other
                            && lefts.iter().zip(rights).all(|((_, left), (_, right))| {
                                let (left, right) = (left.clone(), right.clone());
                                self.unify(Sym::from(left), Sym::from(right), location)
                            })
                    }
                    _ => self.equate(left, right, true),
                }
            }
            (one, other)
                if is_composite(one)
                    && is_composite(other)
                    && std::mem::discriminant(one) != std::mem::discriminant(other) =>
            {
                false
            }
            _ => self.equate(left, right, true),
        }
    }

    /// Binds a free variable to a term.
    fn bind(&mut self, name: &Var, to: Term, location: &Location) -> bool {
        let composite = is_composite(&to.value);
        if let TermValue::Var(_) = &to.value {
            self.bindings.bind(name, Sym::Term(to));
            return true;
        }
        if any_var(&to, |other| other == name) {
            // A term is never a proper part of itself.
            return !composite && self.equate(terms::var(name, location), to, true);
        }
        let is_call = matches!(to.value, TermValue::Ref(_) | TermValue::Call(_));
        if composite && terms::size(&to) < 1_000 {
            self.bindings.bind(name, Sym::Term(to));
            return true;
        }
        if is_call && self.is_inlined(&to) {
            self.bindings.require_defined(to.clone());
            self.bindings.bind(name, Sym::Term(to));
            return true;
        }
        self.equate(terms::var(name, location), to, true)
    }

    /// Saves that two terms are equal. A call receives the other side as its result.
    fn equate(&mut self, left: Term, right: Term, ordered: bool) -> bool {
        let (left, right) = match ordered {
            true => (left, right),
            false => (right, left),
        };
        let location = left.location.clone();
        let (call, other) = match (&left.value, &right.value) {
            (TermValue::Call(call), _) if is_complete(call) => (Some(call), &right),
            (_, TermValue::Call(call)) if is_complete(call) => (Some(call), &left),
            _ => (None, &right),
        };
        let expr = match call {
            Some(call) => {
                let mut call = call.clone();
                call.push(other.clone());
                terms::expr(ExprTerms::Call(call), &location)
            }
            None => terms::call("eq", [left, right], &location),
        };
        self.bindings.save(expr);
        true
    }
}

/// Whether a call has all of its operands but no result.
fn is_complete(call: &[Term]) -> bool {
    let name = operator(call).and_then(dotted);
    let signature = name.and_then(|name| signature(&name));
    signature.is_some_and(|of| of.arity + 1 == call.len())
}
