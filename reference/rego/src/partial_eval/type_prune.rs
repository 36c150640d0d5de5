//! Type pruning: drops residual bodies that cannot hold because of the types of their terms. They
//! arise where values are substituted into functions.

use super::bindings::Checkpoint;
use super::expr_stats::Saved;
use super::rules::saved_vars;
use super::solver::Solver;
use super::support::Supports;
use super::terms;
use crate::Value;
use crate::compile;
use crate::compile::type_check::fits;
use crate::error::Code;
use crate::meter::Meter;
use crate::syntax::terms::{
    constant, dotted, is_constant, is_equality, is_var, operands, operator,
};
use crate::syntax::visit::{self, Rewrite};
use crate::syntax::{Body, Expr, ExprTerms, Term, TermValue, Var};
use crate::types::Type;
use crate::types::signature;

/// Result of a quick type check of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuickCheck {
    Fits,
    Never,
    Unclear,
}

impl Solver<'_> {
    /// Returns the parts saved since a checkpoint, without those that are always true because of
    /// their types; `None` if the types rule out any solution.
    pub(super) fn typed(&self, mark: Checkpoint) -> Option<Vec<Saved>> {
        let saved = self.bindings.since(mark);
        let mut unclear = false;
        for part in &saved {
            match self.quick_check(part) {
                QuickCheck::Never => return None,
                QuickCheck::Fits => {}
                QuickCheck::Unclear => unclear = true,
            }
        }
        match unclear {
            true => self.prune_with_type_checker(saved, mark),
            false => Some(saved),
        }
    }

    /// Prunes the saved parts with the type checker of the compiler.
    fn prune_with_type_checker(&self, saved: Vec<Saved>, mark: Checkpoint) -> Option<Vec<Saved>> {
        let around = self.untyped_outer_variables(&saved, mark);
        if self.compiles(&around, &saved) {
            return Some(saved);
        }
        let is_negated = |part: &&Saved| matches!(part, Saved::Expr(expr) if expr.negated);
        let sure: Vec<Saved> = saved
            .iter()
            .filter(|part| !is_negated(part))
            .cloned()
            .collect();
        if !self.compiles(&around, &sure) {
            return None;
        }
        // An expression with a type error never holds, so that its negation does.
        let type_checks = |part: &Saved| {
            let mut body = sure.clone();
            body.push(part.clone());
            self.compiles(&around, &body)
        };
        let retained = saved
            .iter()
            .filter(|part| !is_negated(part) || type_checks(part));
        Some(retained.cloned().collect())
    }

    /// Returns expressions that give an unknown type to the variables of a body that are bound
    /// outside of it.
    fn untyped_outer_variables(&self, saved: &[Saved], mark: Checkpoint) -> Body {
        let names = saved_vars(saved).into_iter();
        let names = names.filter(|name| self.bindings.is_older_than(name, mark));
        let at = terms::nowhere();
        let equal = |name| {
            let operands = [terms::var(&name, &at), terms::reference("input", [], &at)];
            terms::call("eq", operands, &at)
        };
        names.map(equal).collect()
    }

    /// Whether a body passes the type checker. References to copies of rules are checked as
    /// references to the original rules.
    fn compiles(&self, around: &[Expr], saved: &[Saved]) -> bool {
        let mut body = Body::from(around);
        for (at, part) in saved.iter().enumerate() {
            match part {
                Saved::Expr(expr) if self.calls_support_rule(expr) => {}
                Saved::Expr(expr) => body.push(Expr::clone(expr)),
                Saved::Defined(term) => {
                    let variable = terms::var(&Var(format!("$defined{at}").into()), &term.location);
                    body.push(terms::call(
                        "eq",
                        [variable, Term::clone(term)],
                        &term.location,
                    ));
                }
            }
        }
        visit::rewrite_body(&mut body, &mut Originals(&self.supports, self.meter));
        match compile::partial_query(self.policy, body) {
            Ok(_) => true,
            Err(errors) => errors.0.iter().all(|error| error.code != Code::Type),
        }
    }

    /// Whether an expression calls a generated support rule, which accepts any arguments.
    fn calls_support_rule(&self, expr: &Expr) -> bool {
        let ExprTerms::Call(call) = &expr.terms else {
            return false;
        };
        let name = operator(call).unwrap_or_default();
        name.first().is_some_and(|head| is_var(head, "data"))
            && self.supports.original(name, self.meter).is_none()
    }

    fn quick_check(&self, part: &Saved) -> QuickCheck {
        let expr = match part {
            Saved::Defined(term) if matches!(term.value, TermValue::Ref(_)) => {
                return QuickCheck::Fits;
            }
            Saved::Defined(_) => return QuickCheck::Unclear,
            Saved::Expr(expr) if expr.with.is_empty() => expr,
            Saved::Expr(_) => return QuickCheck::Unclear,
        };
        let call = match &expr.terms {
            ExprTerms::Term(term) if self.is_open(term) => return QuickCheck::Fits,
            ExprTerms::Call(call) => call,
            _ => return QuickCheck::Unclear,
        };
        if is_equality(expr) {
            let simple = |term: &Term| is_constant(term) || self.is_open(term);
            return match operands(expr) {
                [left, right] if simple(left) && simple(right) => QuickCheck::Fits,
                _ => QuickCheck::Unclear,
            };
        }
        let name = operator(call).and_then(dotted).unwrap_or_default();
        match self.quick_check_call(&name, operands(expr)) {
            QuickCheck::Never if expr.negated => QuickCheck::Unclear,
            glance => glance,
        }
    }

    fn quick_check_call(&self, name: &str, operands: &[Term]) -> QuickCheck {
        let Some(Type::Function(of)) = signature(name).map(|signature| &signature.of) else {
            return QuickCheck::Unclear;
        };
        for (place, operand) in operands.iter().enumerate() {
            let Some(value) = constant(operand) else {
                match &operand.value {
                    TermValue::Ref(_) if self.is_open(operand) => continue,
                    _ => return QuickCheck::Unclear,
                }
            };
            let expected = of.args.get(place).or(of.result.as_ref());
            let expected = expected.and_then(|expected| expected.of.as_ref());
            if expected.is_some() && !fits(Some(&Type::of(&value)), expected) {
                return match value {
                    // The type of a value accepts sets for arrays, unlike the compiler.
                    Value::Array(_) | Value::Object(_) | Value::Set(_) => QuickCheck::Unclear,
                    _ => QuickCheck::Never,
                };
            }
        }
        QuickCheck::Fits
    }

    /// Whether a term is a variable, or a reference of unknown type.
    fn is_open(&self, term: &Term) -> bool {
        match &term.value {
            TermValue::Var(_) => true,
            TermValue::Ref(steps) => {
                let is_plain =
                    |step: &Term| matches!(step.value, TermValue::Var(_)) || is_constant(step);
                steps.iter().all(is_plain) && self.supports.original(steps, self.meter).is_none()
            }
            _ => false,
        }
    }
}

/// Replaces references to copies of rules by references to the original rules.
struct Originals<'s>(&'s Supports, &'s Meter);

impl Rewrite for Originals<'_> {
    fn term(&mut self, term: &mut Term) -> bool {
        if let TermValue::Ref(steps) = &mut term.value
            && let Some(original) = self.0.original(steps, self.1)
        {
            *steps = original;
        }
        true
    }
}
