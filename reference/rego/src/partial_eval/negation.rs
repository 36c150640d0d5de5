//! Negation, `every`, and other expressions that depend on whether a body has any solution: the
//! body is evaluated by itself, then negated or moved to a support rule.

use thin_vec::thin_vec;

use super::assemble::{closed, open};
use super::bindings::Frame;
use super::expr_stats::Saved;
use super::rules::{distinct, saved_vars};
use super::solver::{Continuation, Flow, Solver};
use super::terms::{self, Sym};
use crate::Value;
use crate::syntax::terms::is_constant;
use crate::syntax::{
    Body, Connective, Every, Expr, ExprTerms, Location, Logic, Term, TermValue, Var,
};

/// Maximum number of alternatives that a negation expands inline; more become a support rule.
const MAX_ALTERNATIVES: usize = 16;

/// Maximum number of members of the domain of an `every` that is unrolled.
const MAX_MEMBERS: usize = 32;

impl<'p> Solver<'p> {
    /// Calls the continuation for the case that an expression without its `not` is not satisfied.
    pub(super) fn negated(
        &mut self,
        frame: Frame,
        expr: &'p Expr,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let bodies = self.bodies(|solver, next| solver.kind(frame, expr, next))?;
        self.none_of(&bodies, next)
    }

    /// Runs a search, and returns its solutions, each as the saved parts.
    pub(super) fn bodies(
        &mut self,
        run: impl FnOnce(&mut Self, Continuation<'_, 'p>) -> Flow,
    ) -> Result<Vec<Vec<Saved>>, Box<crate::EvalError>> {
        let mark = self.bindings.checkpoint();
        let mut bodies: Vec<Vec<Saved>> = Vec::new();
        let flow = run(self, &mut |solver| {
            if let Some(saved) = solver.typed(mark) {
                solver.charge(&saved)?;
                bodies.push(saved);
            }
            Ok(())
        });
        self.bindings.undo(mark);
        flow?;
        match bodies.iter().any(Vec::is_empty) {
            true => Ok(vec![Vec::new()]),
            false => Ok(distinct(bodies)),
        }
    }

    /// Calls the continuation for the case that none of several bodies is satisfied.
    pub(super) fn none_of(&mut self, bodies: &[Vec<Saved>], next: Continuation<'_, 'p>) -> Flow {
        let mut negated_terms = Vec::new();
        let mut supported = Vec::new();
        let mut combinations = 1_usize;
        for saved in bodies {
            if saved.is_empty() {
                return Ok(());
            }
            let body = closed(saved);
            let is_own = |name: &Var| !self.bindings.is_saved(name);
            let locals = saved_vars(saved).iter().any(is_own);
            let more = combinations.saturating_mul(body.len());
            let is_negatable = body.iter().all(|expr| self.can_negate(expr));
            if locals || more > MAX_ALTERNATIVES || !is_negatable {
                supported.push(saved.clone());
            } else {
                combinations = more;
                negated_terms.push(body);
            }
        }
        let mark = self.bindings.checkpoint();
        if !supported.is_empty() {
            let mut expr = self.any_rule("__not", &supported);
            expr.negated = true;
            self.bindings.save(expr);
        }
        let flow = self.each_negated(&negated_terms, next);
        self.bindings.undo(mark);
        flow
    }

    /// Calls the continuation for each choice of one expression per body, with these negated.
    fn each_negated(&mut self, bodies: &[Body], next: Continuation<'_, 'p>) -> Flow {
        let Some((first, rest)) = bodies.split_first() else {
            return next(self);
        };
        for expr in first {
            self.step()?;
            let mark = self.bindings.checkpoint();
            let mut expr = expr.clone();
            expr.negated = !expr.negated;
            self.bindings.save(expr);
            let flow = self.each_negated(rest, next);
            self.bindings.undo(mark);
            flow?;
        }
        Ok(())
    }

    /// Whether an expression may be negated in place. Compilers evaluate nested operands of a call
    /// ahead of the expression, outside of its `not`, where undefined operands would fail.
    fn can_negate(&self, expr: &Expr) -> bool {
        if !expr.with.is_empty() {
            return false;
        }
        match &expr.terms {
            ExprTerms::Term(term) => is_flat(term),
            ExprTerms::Call(call) if terms::equality_operands(call).is_some() => {
                call.iter().skip(1).all(is_flat)
            }
            ExprTerms::Call(call) => call.iter().skip(1).all(|term| match &term.value {
                TermValue::Ref(_) => is_flat(term) && self.bindings.is_required(term),
                _ => is_flat(term),
            }),
            _ => false,
        }
    }

    /// Returns a call of a new support rule that is true if one of several bodies is.
    fn any_rule(&mut self, name: &str, bodies: &[Vec<Saved>]) -> Expr {
        let location = first_location(bodies);
        let mut args: Vec<Var> = Vec::new();
        for name in bodies.iter().flat_map(|saved| saved_vars(saved)) {
            if self.bindings.is_saved(&name) && !args.contains(&name) {
                args.push(name);
            }
        }
        let name = format!("{name}{}__", self.bindings.number());
        let args: Vec<_> = args.iter().map(|arg| terms::var(arg, &location)).collect();
        for saved in bodies {
            let body = open(saved.clone(), &mut self.bindings);
            self.supports.add(&name, &args, body, &location);
        }
        let steps = ["partial", &name].map(|step| terms::string(step, &location));
        let reference = terms::reference("data", steps, &location);
        if args.is_empty() {
            return terms::to_expr(reference);
        }
        let mut parts = thin_vec![reference];
        parts.extend(args);
        terms::expr(ExprTerms::Call(parts), &location)
    }

    /// Calls the continuation for each of several bodies that may be satisfied.
    fn any_solution(&mut self, bodies: Vec<Vec<Saved>>, next: Continuation<'_, 'p>) -> Flow {
        if bodies.iter().any(Vec::is_empty) {
            return next(self);
        }
        for saved in bodies {
            self.step()?;
            let mark = self.bindings.checkpoint();
            self.bindings.add(saved);
            let flow = next(self);
            self.bindings.undo(mark);
            flow?;
        }
        Ok(())
    }

    /// Calls the continuation if a condition holds for every member of a domain. A known domain is
    /// unrolled.
    pub(super) fn every(
        &mut self,
        frame: Frame,
        expr: &'p Expr,
        every: &'p Every,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let domain = self.plug(frame, &every.domain);
        let members = match &domain {
            Sym::Known(value) if !is_collection(value) => return Ok(()),
            Sym::Known(value) => {
                let members = super::value_ref::members(value);
                (members.len() <= MAX_MEMBERS).then_some(members)
            }
            Sym::Term(_) => None,
        };
        let Some(members) = members else {
            return self.preserve_whole(frame, expr, next);
        };
        let mut combinations = 1_usize;
        let mut all = Vec::new();
        for (key, value) in members {
            let key = every.key.as_ref().map(|term| (term, key));
            let bindings = [key, Some((&every.value, value))];
            let bodies = self.bodies(|solver, next| {
                let mark = solver.bindings.checkpoint();
                for (term, value) in bindings.into_iter().flatten() {
                    if let TermValue::Var(var) = &term.value {
                        let name = solver.bindings.fresh();
                        solver.bindings.assign_name(frame, var, name.clone());
                        solver.bindings.bind(&name, Sym::Known(value));
                    }
                }
                let flow = solver.body(frame, &every.body, next);
                solver.bindings.undo(mark);
                flow
            })?;
            if bodies.is_empty() {
                return Ok(());
            }
            combinations = combinations.saturating_mul(bodies.len());
            if combinations > MAX_ALTERNATIVES && bodies.len() > 1 {
                combinations /= bodies.len();
                let rule = self.any_rule("__every", &bodies);
                all.push(vec![vec![Saved::expr(rule)]]);
            } else {
                all.push(bodies);
            }
        }
        self.all_of(&all, next)
    }

    /// Calls the continuation if the operands satisfy a connective.
    pub(super) fn logic(
        &mut self,
        frame: Frame,
        logic: &'p Logic,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let mut all = Vec::new();
        for operand in &logic.operands {
            let body = &operand.body;
            all.push(self.bodies(|solver, next| solver.body(frame, body, next))?);
        }
        match logic.connective {
            Connective::Not => self.none_of(&all.concat(), next),
            Connective::And => self.all_of(&all, next),
            Connective::Or => self.any_solution(all.concat(), next),
        }
    }

    fn all_of(&mut self, all: &[Vec<Vec<Saved>>], next: Continuation<'_, 'p>) -> Flow {
        match all.split_first() {
            None => next(self),
            Some((first, rest)) => {
                self.any_solution(first.clone(), &mut |solver| solver.all_of(rest, next))
            }
        }
    }
}

fn is_collection(value: &Value) -> bool {
    value.as_array().is_some() || value.as_object().is_some() || value.as_set().is_some()
}

/// Whether a term needs no evaluation ahead of the expression that contains it.
fn is_flat(term: &Term) -> bool {
    match &term.value {
        TermValue::Ref(steps) => steps.iter().all(|step| match &step.value {
            TermValue::Var(_) => true,
            _ => is_constant(step),
        }),
        TermValue::Var(_) => true,
        _ => is_constant(term),
    }
}

fn first_location(bodies: &[Vec<Saved>]) -> Location {
    let first = bodies.iter().flatten().next();
    match first {
        Some(Saved::Expr(expr)) => expr.location.clone(),
        Some(Saved::Defined(term)) => term.location.clone(),
        None => terms::nowhere(),
    }
}
