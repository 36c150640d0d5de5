//! Output variables: those that an expression binds when it is evaluated.

use super::ModuleSet;
use super::evaluable::{Safe, is_ref_safe};
use super::unify::unify;
use super::vars::{ALL, NEEDED, RESULT, STEPS, Vars, equality, steps};
use crate::hash::HashSet;
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Expr, ExprTerms, Term, TermValue, Var, With};

/// Whether all variables of modifiers are bound, which must be so before the expression binds any.
fn are_modifiers_safe(with: &[With], safe: Safe<'_>) -> bool {
    let mut all = true;
    for with in with {
        NEEDED.with(with, &mut |var, _| all = all && safe(var));
    }
    all
}

/// Returns the variables that an expression binds; some may be bound already.
pub(super) fn of_expr<'t>(expr: &'t Expr, module_set: &ModuleSet, safe: Safe<'_>) -> Vars<'t> {
    if expr.negated || !are_modifiers_safe(&expr.with, safe) {
        return Vars::default();
    }
    match &expr.terms {
        ExprTerms::Term(_) => of_steps(safe, |visitor| visit::expr(expr, visitor)),
        ExprTerms::Every(every) => of_steps(safe, |visitor| visit::term(&every.domain, visitor)),
        ExprTerms::Some(_) | ExprTerms::Logic(_) => Vars::default(),
        ExprTerms::Call(call) => match equality(expr) {
            Some((left, right)) => {
                let bound = of_steps(safe, |visitor| visit::expr(expr, visitor));
                of_equality(left, right, expr.assigned, bound, safe)
            }
            None => of_call(expr, call, module_set, safe),
        },
    }
}

/// Returns the unbound variables that an equality binds.
pub(super) fn of_equality<'t>(
    left: &'t Term,
    right: &'t Term,
    assigned: bool,
    mut bound: Vars<'t>,
    safe: Safe<'_>,
) -> Vars<'t> {
    let targets = if assigned {
        ALL.of_term(left)
    } else {
        Vars::default()
    };
    bound.retain(|var| !targets.contains(var));
    let known = |var: &Var| bound.contains(var) || (safe(var) && !targets.contains(var));
    let unified = unify(&known, left, right);
    bound.extend(unified);
    bound.retain(|var| !safe(var));
    bound
}

fn of_call<'t>(
    expr: &'t Expr,
    call: &'t [Term],
    module_set: &ModuleSet,
    safe: Safe<'_>,
) -> Vars<'t> {
    let arity =
        crate::syntax::terms::operator(call).and_then(|operator| module_set.arity(operator));
    let Some(arity) = arity else {
        return Vars::default();
    };
    let mut bound = of_steps(safe, |visitor| visit::expr(expr, visitor));
    let Some((inputs, results)) = call.split_at_checked(arity.saturating_add(1)) else {
        return bound;
    };
    if results.is_empty() {
        return bound;
    }
    let mut all = true;
    RESULT.terms(inputs, &mut |var, _| {
        all = all && (safe(var) || bound.contains(var))
    });
    if !all {
        return Vars::default();
    }
    RESULT.terms(results, &mut |var, _| {
        bound.insert(var);
    });
    bound
}

/// Returns the variables among the steps of references whose heads are bound.
fn of_steps<'t>(safe: Safe<'_>, walk: impl FnOnce(&mut Steps<'_, 't>)) -> Vars<'t> {
    let mut steps = Steps {
        safe,
        bound: Vars::default(),
    };
    walk(&mut steps);
    steps.bound
}

struct Steps<'s, 't> {
    safe: Safe<'s>,
    bound: Vars<'t>,
}

impl<'t> Visit<'t> for Steps<'_, 't> {
    fn term(&mut self, term: &'t Term) -> bool {
        match &term.value {
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_)
            | TermValue::Template(_) => false,
            TermValue::Ref(reference) => {
                if is_ref_safe(reference, self.safe) {
                    STEPS.terms(steps(reference), &mut |var, _| {
                        self.bound.insert(var);
                    });
                    // The steps have been visited as a whole, including references in them.
                    if let Some(head) = reference.first() {
                        visit::term(head, self);
                    }
                }
                false
            }
            _ => true,
        }
    }
}

/// Bound variables. A scope is left by removing the variables added in it.
#[derive(Debug, Default)]
pub(super) struct BoundVars {
    vars: HashSet<Var>,
    order: Vec<Var>,
}

impl BoundVars {
    /// Returns the root documents and the variables of parameters.
    pub(super) fn of_parameters(args: &[Term]) -> Self {
        let mut bound = Self::default();
        for root in ["input", "data"] {
            bound.insert(Var(root.into()));
        }
        ALL.terms(args, &mut |var, _| {
            bound.insert(var.clone());
        });
        bound
    }

    /// Whether a variable is bound.
    pub(super) fn contains(&self, var: &Var) -> bool {
        self.vars.contains(var)
    }

    /// Adds a variable; returns whether it is new.
    pub(super) fn insert(&mut self, var: Var) -> bool {
        let new = self.vars.insert(var.clone());
        if new {
            self.order.push(var);
        }
        new
    }

    /// Returns the start of a new scope.
    pub(super) fn mark(&self) -> usize {
        self.order.len()
    }

    /// Leaves the scope with this start.
    pub(super) fn leave(&mut self, mark: usize) {
        for var in self.order.drain(mark.min(self.order.len())..) {
            self.vars.remove(&var);
        }
    }

    /// Adds the variables that an expression binds.
    pub(super) fn evaluate(&mut self, expr: &Expr, module_set: &ModuleSet) {
        let found = of_expr(expr, module_set, &|var| self.contains(var));
        let found: Vec<Var> = found.into_iter().cloned().collect();
        for var in found {
            self.insert(var);
        }
    }
}

/// Returns the unbound variables that an equality without modifiers binds.
pub(super) fn of_equality_expr<'t>(expr: &'t Expr, safe: Safe<'_>) -> Vars<'t> {
    let Some((left, right)) = equality(expr) else {
        return Vars::default();
    };
    let bound = of_steps(safe, |visitor| visit::expr(expr, visitor));
    of_equality(left, right, expr.assigned, bound, safe)
}
