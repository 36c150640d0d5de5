//! Calls of functions with unknown operands or results.

use thin_vec::{ThinVec, thin_vec};

use super::bindings::Frame;
use super::rules::{Solution, distinct};
use super::solver::{Continuation, Expectation, Flow, Solver};
use super::terms::{self, Sym};
use super::unknowns::Root;
use super::value_ref::{Walk, constants};
use crate::Value;
use crate::compile::rule_tree::RuleSet;
use crate::syntax::{Expr, ExprTerms, Location, Term, TermValue};
use crate::types::{Signature, signature};

impl<'p> Solver<'p> {
    /// Calls a built-in function, or saves the call in the residual.
    pub(super) fn builtin(
        &mut self,
        frame: Frame,
        expr: &'p Expr,
        name: &str,
        operands: &'p [Term],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let Some(signature) = signature(name) else {
            return Ok(());
        };
        let location = &expr.location;
        let args = operands.iter().map(|one| self.plug(frame, one));
        let mut args: Vec<_> = args.collect();
        let output = args.drain(signature.arity.min(args.len())..).next();
        let is_deferred = self.defer_nondeterministic && signature.nondeterministic;
        let known: Option<Vec<_>> = args.iter().map(|arg| arg.known().cloned()).collect();
        if let Some(known) = known
            && !is_deferred
        {
            let operator = terms::operator(name, location);
            for value in self.results(operator, &known, location)? {
                self.result(Sym::Known(value), output.clone(), location, next)?;
            }
            return Ok(());
        }
        self.left(signature, args, output, location, next)
    }

    /// Saves a call of a built-in function in the residual.
    fn left(
        &mut self,
        signature: &Signature,
        args: Vec<Sym>,
        output: Option<Sym>,
        location: &Location,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let meter = self.meter;
        let mut parts = ThinVec::with_capacity(args.len() + 2);
        parts.push(terms::operator(signature.name, location));
        parts.extend(args.into_iter().map(|arg| arg.into_term(location, meter)));
        let mark = self.bindings.checkpoint();
        let is_value = !signature.relation && !signature.nondeterministic && !signature.void;
        let possible = match output {
            None => {
                self.bindings
                    .save(terms::expr(ExprTerms::Call(parts), location));
                true
            }
            Some(output) if is_value => {
                let call = terms::term(TermValue::Call(parts), location);
                self.unify(Sym::Term(call), output, location)
            }
            Some(output) => {
                parts.push(output.into_term(location, self.meter));
                self.bindings
                    .save(terms::expr(ExprTerms::Call(parts), location));
                true
            }
        };
        let flow = match possible {
            true => next(self),
            false => Ok(()),
        };
        self.bindings.undo(mark);
        flow
    }

    /// Unifies the result of a call with its output, or tests that it is not `false`.
    fn result(
        &mut self,
        value: Sym,
        output: Option<Sym>,
        location: &Location,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        match output {
            Some(output) => self.if_unified(&output, value, location, |solver| next(solver)),
            None => self.holds(value, location, next),
        }
    }

    /// Calls a function of the policy.
    pub(super) fn function(
        &mut self,
        frame: Frame,
        expr: &'p Expr,
        name: &'p [Term],
        operands: &'p [Term],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let path = constants(name.get(1..).unwrap_or_default());
        let module_set = self.policy.module_set();
        let node = module_set.find(&path);
        let Some((node, set)) = node.and_then(|node| Some((node, node.rules.as_deref()?))) else {
            return Ok(());
        };
        let location = &expr.location;
        let all: Vec<_> = operands.iter().map(|one| self.plug(frame, one)).collect();
        let (args, output) = match all.split_at_checked(set.arity) {
            Some((args, output)) => (args, output.first().cloned()),
            None => return Ok(()),
        };
        let known: Option<Vec<_>> = args.iter().map(|arg| arg.known().cloned()).collect();
        if let Some(known) = known
            && !self.depends.rules(node, set)
        {
            let operator = terms::reference("data", name.iter().skip(1).cloned(), location);
            for value in self.results(operator, &known, location)? {
                self.result(Sym::Known(value), output.clone(), location, next)?;
            }
            return Ok(());
        }
        if self.opaque.overlap(Root::Data, &path) {
            return self.call_support(&path, args, output, location, next);
        }
        self.inlined(set, args, output, location, next)
    }

    /// Replaces a call of a function by the solutions of its rules.
    fn inlined(
        &mut self,
        set: &'p RuleSet,
        args: &[Sym],
        output: Option<Sym>,
        location: &Location,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let mut solutions: Vec<Solution> = Vec::new();
        for rule in &set.rules {
            self.chain(rule, 0, args, &mut solutions)?;
        }
        let solutions = distinct(solutions);
        let default = set.default.as_deref();
        let default = default.and_then(|rule| rule.ast().head.value.clone());
        let default = default.map(|value| self.plug(0, &value));
        let expected = match &output {
            None => Some(Expectation::Truthy),
            Some(Sym::Known(value)) => Some(Expectation::Is(value.clone())),
            Some(Sym::Term(_)) => None,
        };
        let walk = Walk {
            steps: &[],
            expected: expected.as_ref(),
            location,
        };
        self.choose(solutions, default, walk, &mut |solver, value| {
            solver.result(value, output.clone(), location, next)
        })
    }

    /// Saves a call of the support copy of a function that must not be inlined.
    fn call_support(
        &mut self,
        path: &[Value],
        args: &[Sym],
        output: Option<Sym>,
        location: &Location,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let meter = self.meter;
        let mut parts = thin_vec![self.supported(path, location)];
        let operands = args.iter().cloned().chain(output);
        parts.extend(operands.map(|operand| operand.into_term(location, meter)));
        let mark = self.bindings.checkpoint();
        self.bindings
            .save(terms::expr(ExprTerms::Call(parts), location));
        let flow = next(self);
        self.bindings.undo(mark);
        flow
    }
}
