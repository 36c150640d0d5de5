//! Copy propagation: replaces variables that only stand for a reference by the reference.
//!
//! `eq(x, data.reports[i].level); gt(x, 4)` means the same as `gt(data.reports[i].level, 4)`, and
//! consumers of residuals that read one expression at a time understand only the second form.

use std::collections::BTreeSet;

use super::bindings::Flatten;
use super::expr_stats::Saved;
use super::terms::{self, all_term_vars, all_vars, equality_operands};
use crate::hash::HashMap;
use crate::syntax::visit::{self, Rewrite, Visit};
use crate::syntax::{ExprTerms, Term, TermValue, Var};

/// Maximum number of terms that the replacement of one variable may add to a residual.
const MAX_GROWTH: usize = 200;

/// Replaces generated variables that are bound to a reference by the reference, where every use
/// requires the variable to be defined.
pub(super) fn references(saved: Vec<Saved>) -> Vec<Saved> {
    if !saved.iter().any(|part| bound_reference(part).is_some()) {
        return saved;
    }
    let mut parts: Vec<_> = saved.into_iter().map(Some).collect();
    let mut uses: HashMap<Var, Vec<usize>> = HashMap::default();
    for (place, part) in parts.iter().enumerate() {
        for name in part.iter().flat_map(variables) {
            uses.entry(name).or_default().push(place);
        }
    }
    for place in 0..parts.len() {
        let Some((name, to)) = parts
            .get(place)
            .and_then(Option::as_ref)
            .and_then(bound_reference)
        else {
            continue;
        };
        let others: Vec<_> = uses.get(&name).into_iter().flatten().copied().collect();
        let others: Vec<_> = others.into_iter().filter(|other| *other != place).collect();
        let growth = terms::size(&to).saturating_mul(others.len().saturating_sub(1));
        let is_plain = |other: &usize| {
            let part = parts.get(*other).and_then(Option::as_ref);
            part.is_some_and(|part| requires(part, &name))
        };
        if others.is_empty() || growth > MAX_GROWTH || !others.iter().all(is_plain) {
            continue;
        }
        for other in &others {
            if let Some(Some(part)) = parts.get_mut(*other) {
                put(part, &name, &to);
            }
        }
        for inner in terms::vars(&to) {
            let places = uses.entry(inner).or_default();
            places.retain(|used| *used != place);
            places.extend(&others);
            places.sort_unstable();
            places.dedup();
        }
        if let Some(part) = parts.get_mut(place) {
            *part = None;
        }
    }
    parts.into_iter().flatten().collect()
}

/// Returns the variable that an expression binds to a reference, and the reference.
fn bound_reference(part: &Saved) -> Option<(Var, Term)> {
    let Saved::Expr(expr) = part else {
        return None;
    };
    let ExprTerms::Call(call) = &expr.terms else {
        return None;
    };
    let (left, right) = equality_operands(call)?;
    if expr.negated || !expr.with.is_empty() {
        return None;
    }
    let pair = |var: &Term, to: &Term| match (&var.value, &to.value) {
        (TermValue::Var(name), TermValue::Ref(_)) if name.is_generated() => {
            (!mentions(to, name)).then(|| (name.clone(), to.clone()))
        }
        _ => None,
    };
    pair(left, right).or_else(|| pair(right, left))
}

fn variables(part: &Saved) -> BTreeSet<Var> {
    match part {
        Saved::Expr(expr) => all_vars(expr),
        Saved::Defined(term) => all_term_vars(term),
    }
}

fn mentions(term: &Term, name: &Var) -> bool {
    all_term_vars(term).contains(name)
}

/// Whether a part of a residual is undefined if the variable is undefined.
fn requires(part: &Saved, name: &Var) -> bool {
    let mut inner = Inner { name, found: false };
    let expr = match part {
        Saved::Expr(expr) if !expr.negated && expr.with.is_empty() => expr,
        Saved::Expr(_) => return false,
        Saved::Defined(term) => {
            visit::term(term, &mut inner);
            return !inner.found;
        }
    };
    match &expr.terms {
        ExprTerms::Call(call) => visit::terms(call, &mut inner),
        ExprTerms::Term(term) => visit::term(term, &mut inner),
        ExprTerms::Every(every) => {
            visit::term(&every.domain, &mut inner);
            inner.found |= every.body.iter().any(|part| all_vars(part).contains(name));
        }
        ExprTerms::Logic(_) | ExprTerms::Some(_) => return false,
    }
    !inner.found
}

fn put(part: &mut Saved, name: &Var, to: &Term) {
    let mut put = Put { name, to };
    match part {
        Saved::Expr(expr) => expr.change(|expr| {
            visit::rewrite_expr(expr, &mut put);
            visit::rewrite_expr(expr, &mut Flatten);
        }),
        Saved::Defined(term) => term.change(|term| {
            visit::rewrite_term(term, &mut put);
            visit::rewrite_term(term, &mut Flatten);
        }),
    }
}

/// Searches for a variable in closures, which may be defined even if the variable is not.
struct Inner<'n> {
    name: &'n Var,
    found: bool,
}

impl<'t> Visit<'t> for Inner<'_> {
    fn term(&mut self, term: &'t Term) -> bool {
        match &term.value {
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_)
            | TermValue::Template(_) => {
                self.found |= mentions(term, self.name);
                false
            }
            _ => true,
        }
    }
}

struct Put<'n> {
    name: &'n Var,
    to: &'n Term,
}

impl Rewrite for Put<'_> {
    fn term(&mut self, term: &mut Term) -> bool {
        match &term.value {
            TermValue::Var(name) if name == self.name => {
                term.value = self.to.value.clone();
                false
            }
            _ => true,
        }
    }
}
