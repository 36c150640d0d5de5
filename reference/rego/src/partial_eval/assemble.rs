//! Assembly of residual bodies from saved expressions.

use std::collections::BTreeSet;

use super::bindings::Bindings;
use super::expr_stats::Saved;
use super::terms;
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Body, Expr, ExprTerms, Term, TermValue, Var, With};

/// Builds a body without fresh variables: a term that must be defined is compared with itself.
pub(super) fn closed(saved: &[Saved]) -> Body {
    body(saved.to_vec(), &mut |term| term.clone())
}

/// Builds a body in which a term that must be defined is unified with a fresh variable.
pub(super) fn open(saved: Vec<Saved>, bindings: &mut Bindings) -> Body {
    body(saved, &mut |term| {
        let name: Var = bindings.fresh();
        terms::var(&name, &term.location)
    })
}

fn body(saved: Vec<Saved>, other: &mut dyn FnMut(&Term) -> Term) -> Body {
    let is_needed = needed_parts(&saved);
    let mut body = Body::with_capacity(saved.len());
    for (part, is_needed) in saved.into_iter().zip(is_needed) {
        if !is_needed {
            continue;
        }
        let mut expr = match part {
            Saved::Expr(expr) => expr.into_node(),
            Saved::Defined(term) => {
                let location = term.location.clone();
                let left = other(&term);
                terms::call("eq", [left, term.into_node()], &location)
            }
        };
        expr.index = body.len();
        body.push(expr);
    }
    body
}

/// Returns for each saved part whether it adds a condition that no other part implies.
fn needed_parts(saved: &[Saved]) -> Vec<bool> {
    let demanded = RequiredTerms::of(saved);
    let mut exprs: BTreeSet<(bool, &ExprTerms, &[With])> = BTreeSet::new();
    let mut defined: BTreeSet<&TermValue> = BTreeSet::new();
    let parts = saved.iter().map(|part| match part {
        _ if saved.len() == 1 => true,
        Saved::Expr(expr) => exprs.insert((expr.negated, &expr.terms, &expr.with)),
        Saved::Defined(term) => !demanded.has(term) && defined.insert(&term.value),
    });
    parts.collect()
}

/// Required terms that no saved expression implies to be defined.
#[derive(Debug, Default)]
struct RequiredTerms<'t> {
    terms: BTreeSet<&'t TermValue>,
    references: BTreeSet<&'t [Term]>,
    /// Required calls; no saved expression contains them with a result operand.
    calls: BTreeSet<&'t [Term]>,
}

impl<'t> RequiredTerms<'t> {
    fn of(saved: &'t [Saved]) -> Self {
        let mut left = Self::default();
        for part in saved {
            let Saved::Defined(term) = part else {
                continue;
            };
            match &term.value {
                TermValue::Ref(steps) => {
                    left.references.insert(steps);
                }
                value => {
                    left.terms.insert(value);
                }
            }
            if let TermValue::Call(call) = &term.value {
                left.calls.insert(call);
            }
        }
        for part in saved {
            if left.is_empty() {
                break;
            }
            if let Saved::Expr(expr) = part
                && !expr.negated
                && expr.with.is_empty()
            {
                visit::expr(expr, &mut left);
            }
        }
        left
    }

    /// Whether the saved expressions imply that all required terms are defined.
    fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.references.is_empty()
    }

    /// Whether some saved expression is satisfied only if the term is defined.
    fn has(&self, term: &Term) -> bool {
        match &term.value {
            TermValue::Ref(steps) => !self.references.contains(steps.as_slice()),
            TermValue::Call(call) if !self.calls.contains(call.as_slice()) => true,
            value => !self.terms.contains(value),
        }
    }
}

impl<'t> Visit<'t> for RequiredTerms<'t> {
    fn term(&mut self, term: &'t Term) -> bool {
        match &term.value {
            TermValue::Ref(steps) => {
                // Usually the whole reference is demanded, and the search ends early.
                for beginning in (1..=steps.len()).rev().filter_map(|end| steps.get(..end)) {
                    self.references.remove(beginning);
                }
                !self.is_empty()
            }
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_)
            | TermValue::Template(_) => false,
            value => {
                self.terms.remove(value);
                !self.is_empty()
            }
        }
    }

    fn expr(&mut self, expr: &'t Expr) -> bool {
        match &expr.terms {
            ExprTerms::Call(parts) => {
                if let Some((_, call)) = parts.split_last() {
                    self.calls.remove(call);
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
