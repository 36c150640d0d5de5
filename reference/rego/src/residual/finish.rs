//! From what was saved to bodies.

use std::collections::BTreeSet;

use super::saved::Saved;
use super::store::Store;
use super::terms;
use crate::compile::visit::{self, Visit};
use crate::syntax::{Body, Expr, ExprTerms, Term, TermValue, Var, With};

/// A body in which what must have a value is compared with itself, so that it has no variables
/// more than it had.
pub(super) fn closed(saved: &[Saved]) -> Body {
    body(saved, &mut |term| term.clone())
}

/// A body in which what must have a value gives it to a variable.
pub(super) fn open(saved: &[Saved], store: &mut Store) -> Body {
    body(saved, &mut |term| {
        let name: Var = store.fresh();
        terms::var(&name, &term.location)
    })
}

fn body(saved: &[Saved], other: &mut dyn FnMut(&Term) -> Term) -> Body {
    let mut demanded = Demanded::default();
    if saved.iter().any(|part| matches!(part, Saved::Defined(_))) {
        for part in saved {
            if let Saved::Expr(expr) = part
                && !expr.negated
                && expr.with.is_empty()
            {
                visit::expr(expr, &mut demanded);
            }
        }
    }
    let mut body: Body = Vec::new();
    let mut said: BTreeSet<(bool, &ExprTerms, &[With])> = BTreeSet::new();
    let mut seen: BTreeSet<&TermValue> = BTreeSet::new();
    for part in saved {
        match part {
            Saved::Expr(expr) => {
                if saved.len() == 1 || said.insert((expr.negated, &expr.terms, &expr.with)) {
                    body.push(Expr::clone(expr));
                }
            }
            Saved::Defined(term) => {
                if demanded.has(term) || !seen.insert(&term.value) {
                    continue;
                }
                let left = other(term);
                let location = &term.location;
                body.push(terms::call("eq", vec![left, Term::clone(term)], location));
            }
        }
    }
    for (index, expr) in body.iter_mut().enumerate() {
        expr.index = index;
    }
    body
}

/// The terms that must have values for expressions to hold.
#[derive(Debug, Default)]
struct Demanded<'t> {
    terms: BTreeSet<&'t TermValue>,
    references: BTreeSet<&'t [Term]>,
    /// Calls that have a result, without it.
    calls: BTreeSet<&'t [Term]>,
}

impl Demanded<'_> {
    fn has(&self, term: &Term) -> bool {
        match &term.value {
            TermValue::Ref(steps) => self.references.contains(steps.as_slice()),
            TermValue::Call(call) if self.calls.contains(call.as_slice()) => true,
            value => self.terms.contains(value),
        }
    }
}

impl<'t> Visit<'t> for Demanded<'t> {
    fn term(&mut self, term: &'t Term) -> bool {
        match &term.value {
            TermValue::Ref(steps) => {
                for length in 1..=steps.len() {
                    self.references.extend(steps.get(..length));
                }
                true
            }
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_)
            | TermValue::Template(_) => false,
            value => {
                self.terms.insert(value);
                true
            }
        }
    }

    fn expr(&mut self, expr: &'t Expr) -> bool {
        match &expr.terms {
            ExprTerms::Call(parts) => {
                if let Some((_, call)) = parts.split_last() {
                    self.calls.insert(call);
                }
                visit::terms(parts.get(1..).unwrap_or_default(), self);
            }
            ExprTerms::Term(term) => visit::term(term, self),
            ExprTerms::Every(every) => visit::term(&every.domain, self),
            ExprTerms::Logic(_) | ExprTerms::Some(_) => {}
        }
        false
    }
}
