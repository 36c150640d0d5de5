//! Safety: reorders bodies so that every variable is bound before it is used, and rejects bodies
//! and heads for which there is no such order.

mod heads;
mod order;
mod report;

use self::order::UnsafeExpr;
use super::outputs::BoundVars;
use super::vars::{ALL, NEEDED_AROUND, Vars};
use super::{CompilationUnit, Diagnostics, ModuleSet, QueryUnit};
use crate::syntax::visit::{self, Rewrite, deep};
use crate::syntax::{Body, Expr, ExprTerms, Location, Term, TermValue, Var};
use report::Scopes;

pub(super) use heads::run as heads;

/// Orders the bodies of a module.
pub(super) fn run(unit: &mut CompilationUnit, module_set: &ModuleSet) -> Diagnostics {
    let mut found = Diagnostics::new();
    let scopes = Scopes::of(&unit.module.rules);
    for rule in &mut unit.module.rules {
        let mut next = Some(rule);
        while let Some(rule) = next {
            let mut safety = Safety::new(module_set, BoundVars::of_parameters(&rule.head.args));
            safety.body(&mut rule.body);
            found.extend(report::unsafe_var_errors(
                &safety.blocked,
                &unit.written,
                &scopes.of_rule(rule),
            ));
            next = rule.else_rule.as_deref_mut();
        }
    }
    found
}

/// Orders a query.
pub(super) fn query(unit: &mut QueryUnit, module_set: &ModuleSet) -> Diagnostics {
    let mut safety = Safety::new(module_set, BoundVars::of_parameters(&[]));
    safety.body(&mut unit.body);
    report::unsafe_var_errors(&safety.blocked, &unit.written, "")
}

struct Safety<'w> {
    module_set: &'w ModuleSet,
    bound: BoundVars,
    blocked: Vec<UnsafeExpr>,
}

impl<'w> Safety<'w> {
    fn new(module_set: &'w ModuleSet, bound: BoundVars) -> Self {
        Self {
            module_set,
            bound,
            blocked: Vec::new(),
        }
    }

    /// Orders a body, then the bodies inside of its expressions; in those, the variables of the
    /// preceding expressions are bound.
    fn body(&mut self, body: &mut Body) {
        let mark = self.bound.mark();
        let order = order::order(body, self.module_set, &mut self.bound);
        self.bound.leave(mark);
        let is_complete = order.blocked.is_empty();
        self.blocked.extend(order.blocked);

        let mut places = vec![usize::MAX; body.len()];
        for (place, index) in order.order.iter().enumerate() {
            if let Some(slot) = places.get_mut(*index) {
                *slot = place;
            }
        }
        let mut placed: Vec<(usize, Expr)> = places.into_iter().zip(std::mem::take(body)).collect();
        placed.sort_by_key(|(place, _)| *place);
        body.reserve_exact(placed.len());
        for (place, mut expr) in placed {
            if place != usize::MAX {
                let at = expr.location.clone();
                visit::rewrite_expr(&mut expr, &mut Closures { safety: self, at });
                NEEDED_AROUND.expr(&expr, &mut |var, _| {
                    self.bound.insert(var.clone());
                });
            }
            if is_complete {
                super::vars::push(body, expr);
            } else {
                body.push(expr);
            }
        }
        self.bound.leave(mark);
    }
}

/// Orders the bodies inside of an expression.
struct Closures<'s, 'w> {
    safety: &'s mut Safety<'w>,
    at: Location,
}

impl Rewrite for Closures<'_, '_> {
    fn expr(&mut self, expr: &mut Expr) -> bool {
        if let ExprTerms::Every(every) = &mut expr.terms {
            for term in every.key.iter().chain([&every.value]) {
                ALL.term(term, &mut |var, _| {
                    self.safety.bound.insert(var.clone());
                });
            }
            deep(|| self.safety.body(&mut every.body));
            return false;
        }
        if let ExprTerms::Logic(logic) = &mut expr.terms {
            for operand in &mut logic.operands {
                deep(|| self.safety.body(&mut operand.body));
            }
            return false;
        }
        true
    }

    fn term(&mut self, term: &mut Term) -> bool {
        match &mut term.value {
            TermValue::ArrayComprehension(of) | TermValue::SetComprehension(of) => {
                let vars = ALL.of_term(&of.term);
                self.terms(&vars, &of.body);
                deep(|| self.safety.body(&mut of.body));
                false
            }
            TermValue::ObjectComprehension(of) => {
                let mut vars = ALL.of_term(&of.key);
                vars.extend(ALL.of_term(&of.value));
                self.terms(&vars, &of.body);
                deep(|| self.safety.body(&mut of.body));
                false
            }
            _ => true,
        }
    }
}

impl Closures<'_, '_> {
    /// Reports variables of a comprehension's term that neither its body nor the outer scope binds.
    fn terms(&mut self, vars: &Vars<'_>, body: &[Expr]) {
        let mut open: Vec<&Var> = vars.iter().copied().collect();
        open.retain(|var| !self.safety.bound.contains(var));
        if open.is_empty() {
            return;
        }
        let inside = NEEDED_AROUND.of_body(body);
        let vars: Vec<Var> = open
            .into_iter()
            .filter(|var| !inside.contains(*var))
            .cloned()
            .collect();
        if !vars.is_empty() {
            self.safety.blocked.push(UnsafeExpr {
                at: self.at.clone(),
                targets: None,
                vars,
            });
        }
    }
}
