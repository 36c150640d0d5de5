//! Evaluation order of the expressions of one body.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::ModuleSet;
use super::super::outputs::{BoundVars, of_expr};
use super::super::vars::{ALL, NEEDED_AROUND, PATTERN, RESULT, STEPS, Vars, equality, steps};
use crate::hash::HashMap;
use crate::syntax::terms::operator;
use crate::syntax::visit::{self, Visit};
use crate::syntax::{Body, Expr, ExprTerms, Location, Term, TermValue, Var};

/// An expression that cannot be evaluated, with its unbound variables.
#[derive(Debug)]
pub(super) struct UnsafeExpr {
    /// Location of the expression.
    pub(super) at: Location,
    /// Variables that the expression assigns, if it is a `:=`.
    pub(super) targets: Option<Vec<Var>>,
    /// Unbound variables that the expression needs.
    pub(super) vars: Vec<Var>,
}

/// Result of the ordering.
#[derive(Debug)]
pub(super) struct Order {
    /// Indices of the expressions that can be evaluated, in the order of evaluation.
    pub(super) order: Vec<usize>,
    /// Expressions that cannot be evaluated.
    pub(super) blocked: Vec<UnsafeExpr>,
}

/// Orders a body and adds the variables that it binds. Expressions stay in source order as far as
/// possible: each pass over the body takes those that can be evaluated by then. An expression is
/// examined again only when a variable that it waits for is bound.
pub(super) fn order(body: &[Expr], module_set: &ModuleSet, bound: &mut BoundVars) -> Order {
    let visible = NEEDED_AROUND.of_body(body);
    let mut candidates: Vec<_> = body
        .iter()
        .map(|expr| Candidate::of(expr, &visible, bound))
        .collect();
    let mut queue: BinaryHeap<_> = (0..body.len())
        .map(|index| Reverse((0_usize, index)))
        .collect();
    let mut waiting: HashMap<Var, Vec<usize>> = HashMap::default();
    let mut order = Vec::with_capacity(body.len());

    while let Some(Reverse((pass, index))) = queue.pop() {
        let Some(candidate) = candidates.get_mut(index) else {
            continue;
        };
        if candidate.is_taken {
            continue;
        }
        candidate.is_queued = false;
        match candidate.check_readiness(module_set, bound) {
            Readiness::Ready(binds) => {
                candidate.is_taken = true;
                order.push(index);
                for var in binds {
                    if !bound.insert(var.clone()) {
                        continue;
                    }
                    for waiter in waiting.remove(&var).unwrap_or_default() {
                        if let Some(other) = candidates.get_mut(waiter)
                            && !other.is_taken
                            && !other.is_queued
                        {
                            other.is_queued = true;
                            let pass = pass + usize::from(waiter < index);
                            queue.push(Reverse((pass, waiter)));
                        }
                    }
                }
            }
            Readiness::WaitsFor(vars) => {
                for var in vars {
                    waiting.entry(var).or_default().push(index);
                }
            }
        }
    }
    let blocked = candidates.iter().filter(|candidate| !candidate.is_taken);
    Order {
        order,
        blocked: blocked
            .map(|candidate| candidate.blocked(module_set, bound))
            .collect(),
    }
}

/// An expression and the variables that it needs.
struct Candidate<'t> {
    expr: &'t Expr,
    needs: Vec<&'t Var>,
    /// Variables of the body that comprehensions and `every` inside of the expression use.
    closes_over: Vec<&'t Var>,
    is_taken: bool,
    is_queued: bool,
}

enum Readiness {
    Ready(Vec<Var>),
    WaitsFor(Vec<Var>),
}

impl<'t> Candidate<'t> {
    fn of(expr: &'t Expr, visible: &Vars<'t>, bound: &BoundVars) -> Self {
        let mut needs = Vars::default();
        NEEDED_AROUND.expr(expr, &mut |var, _| {
            if !bound.contains(var) {
                needs.insert(var);
            }
        });
        let mut inside = NestedVars(Vars::default());
        visit::expr(expr, &mut inside);
        inside
            .0
            .retain(|var| visible.contains(*var) && !bound.contains(var));
        let mut needs: Vec<_> = needs.into_iter().collect();
        let mut closes_over: Vec<_> = inside.0.into_iter().collect();
        needs.sort();
        closes_over.sort();
        Self {
            expr,
            needs,
            closes_over,
            is_taken: false,
            is_queued: true,
        }
    }

    fn open<'c>(&'c self, bound: &'c BoundVars) -> impl Iterator<Item = &'t Var> + use<'c, 't> {
        let vars = self.needs.iter().chain(&self.closes_over).copied();
        vars.filter(|var| !bound.contains(var))
    }

    fn check_readiness(&self, module_set: &ModuleSet, bound: &BoundVars) -> Readiness {
        if self.open(bound).next().is_none() {
            return Readiness::Ready(Vec::new());
        }
        let binds = of_expr(self.expr, module_set, &|var| bound.contains(var));
        let missing: Vec<_> = self
            .open(bound)
            .filter(|var| !binds.contains(*var))
            .collect();
        if missing.is_empty() && !self.closes_over_itself(&binds) {
            return Readiness::Ready(binds.into_iter().cloned().collect());
        }
        // A variable that the expression can never bind itself must be bound first, so waiting for
        // one such variable is enough. Otherwise any variable can make the difference.
        let bindable = could_bind(self.expr, module_set);
        match missing.iter().find(|var| !bindable.contains(**var)) {
            Some(var) => Readiness::WaitsFor(vec![(*var).clone()]),
            None => Readiness::WaitsFor(self.open(bound).cloned().collect()),
        }
    }

    /// Whether the expression binds exactly the variables that its own comprehensions use.
    fn closes_over_itself(&self, binds: &Vars<'_>) -> bool {
        !self.closes_over.is_empty()
            && binds.len() == self.closes_over.len()
            && self.closes_over.iter().all(|var| binds.contains(*var))
    }

    fn blocked(&self, module_set: &ModuleSet, bound: &BoundVars) -> UnsafeExpr {
        let binds = of_expr(self.expr, module_set, &|var| bound.contains(var));
        let missing = |vars: &[&'t Var]| -> Vec<Var> {
            let vars = vars
                .iter()
                .filter(|var| !bound.contains(var) && !binds.contains(**var));
            vars.map(|var| (*var).clone()).collect()
        };
        let mut vars = missing(&self.closes_over);
        if vars.is_empty() {
            vars = missing(&self.needs);
        }
        if vars.is_empty() {
            vars = self.needs.iter().map(|var| (*var).clone()).collect();
        }
        let targets = equality(self.expr).filter(|_| self.expr.assigned);
        UnsafeExpr {
            at: self.expr.location.clone(),
            targets: targets.map(|(left, _)| ALL.of_term(left).into_iter().cloned().collect()),
            vars,
        }
    }
}

/// Returns the variables that an expression may bind, regardless of which are bound already.
fn could_bind<'t>(expr: &'t Expr, module_set: &ModuleSet) -> Vars<'t> {
    let mut found = InSteps(Vars::default());
    if expr.negated || matches!(expr.terms, ExprTerms::Logic(_)) {
        return found.0;
    }
    visit::expr(expr, &mut found);
    let mut vars = found.0;
    if let ExprTerms::Call(call) = &expr.terms {
        let (scan, results) = match equality(expr) {
            Some(_) => (PATTERN, call.get(1..)),
            None => {
                let arity = operator(call).and_then(|operator| module_set.arity(operator));
                (
                    RESULT,
                    arity.and_then(|arity| call.get(arity.saturating_add(1)..)),
                )
            }
        };
        scan.terms(results.unwrap_or_default(), &mut |var, _| {
            vars.insert(var);
        });
    }
    vars
}

struct InSteps<'t>(Vars<'t>);

impl<'t> Visit<'t> for InSteps<'t> {
    fn term(&mut self, term: &'t Term) -> bool {
        match &term.value {
            TermValue::Ref(reference) => {
                STEPS.terms(steps(reference), &mut |var, _| {
                    self.0.insert(var);
                });
                false
            }
            value => !is_closure(value),
        }
    }
}

/// Collects variables inside of comprehensions, `every`, `not`, `and` and `or`.
struct NestedVars<'t>(Vars<'t>);

impl<'t> Visit<'t> for NestedVars<'t> {
    fn expr(&mut self, expr: &'t Expr) -> bool {
        let bodies: Vec<&Body> = match &expr.terms {
            ExprTerms::Every(every) => vec![&every.body],
            ExprTerms::Logic(logic) => logic.operands.iter().map(|of| &of.body).collect(),
            _ => return true,
        };
        for body in bodies {
            ALL.body(body, &mut |var, _| {
                self.0.insert(var);
            });
        }
        false
    }

    fn term(&mut self, term: &'t Term) -> bool {
        if is_closure(&term.value) {
            ALL.term(term, &mut |var, _| {
                self.0.insert(var);
            });
            return false;
        }
        true
    }
}

fn is_closure(value: &TermValue) -> bool {
    matches!(
        value,
        TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_)
    )
}
