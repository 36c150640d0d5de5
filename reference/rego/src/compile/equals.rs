//! Turns `==` into `=`. Safety has been checked by then, so both sides are bound.

use super::names::operator;
use super::vars::call_of;
use super::{CompilationUnit, Diagnostics, ModuleSet};
use crate::syntax::visit::{self, Rewrite, each_rule};
use crate::syntax::{Expr, ExprTerms, Term};

/// Rewrites a module.
pub(super) fn run(unit: &mut CompilationUnit, _: &ModuleSet) -> Diagnostics {
    each_rule(&mut unit.module.rules, |rule| {
        visit::rewrite_head(&mut rule.head, &mut Equals);
        visit::rewrite_body(&mut rule.body, &mut Equals);
    });
    Diagnostics::new()
}

/// Restores the comparisons of a term to their source form, for messages.
pub(in crate::compile) fn undo(term: &mut Term) {
    visit::rewrite_term(term, &mut Comparisons);
}

struct Comparisons;

impl Rewrite for Comparisons {
    fn expr(&mut self, expr: &mut Expr) -> bool {
        let is_equality = matches!(call_of(expr, "eq"), Some([_, _, _])) && !expr.assigned;
        if is_equality
            && let ExprTerms::Call(call) = &mut expr.terms
            && let Some(name) = call.first_mut()
            && name.location.length == EQUALS
        {
            *name = operator("equal", &name.location);
        }
        true
    }
}

/// Length of `==` in bytes.
const EQUALS: u32 = 2;

struct Equals;

impl Rewrite for Equals {
    fn expr(&mut self, expr: &mut Expr) -> bool {
        let is_comparison = matches!(call_of(expr, "equal"), Some([_, _, _]));
        if is_comparison
            && let ExprTerms::Call(call) = &mut expr.terms
            && let Some(name) = call.first_mut()
        {
            *name = operator("eq", &name.location);
        }
        true
    }
}
