//! Evaluation of expressions.

use super::deterministic::Deterministic;
use super::machine::{Continuation, Flow, Frame, Interrupt, Machine};
use super::trace::Subject;
use crate::Value;
use crate::ir::{Expr, Kind, Operand};
use crate::trace::Op;

impl<'p> Machine<'p> {
    /// Evaluates an expression, and for each solution the rest of its body and the continuation.
    pub(super) fn expr(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        if self.watched() {
            self.report(frame, Op::Eval, Subject::Expr(expr));
        }
        if expr.with.is_empty() {
            self.solve(frame, expr, &mut |machine| machine.advance(frame, next))
        } else {
            self.with(frame, expr, next)
        }
    }

    /// Finds the solutions of an expression without its modifiers.
    pub(super) fn solve(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        if expr.negated {
            self.negated(frame, expr, next)
        } else {
            self.solutions(frame, expr, Subject::Expr(expr), next)
        }
    }

    /// Finds the solutions of an expression without its `not`, and reports trace events.
    fn solutions(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        subject: Subject<'_>,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        if !self.watched() {
            return self.kind(frame, expr, next);
        }
        let mut defined = false;
        self.kind(frame, expr, &mut |machine| {
            defined = true;
            let flow = next(machine);
            machine.report(frame, Op::Redo, subject);
            flow
        })?;
        if !defined {
            self.report(frame, Op::Fail, subject);
        }
        Ok(())
    }

    fn kind(&mut self, frame: &Frame<'_>, expr: &Expr, next: Continuation<'_, 'p>) -> Flow {
        match &expr.kind {
            Kind::Holds(operand) => self.holds(frame, operand, next),
            Kind::Unify(left, right) => self.unify(frame, left, right, next),
            Kind::Builtin(call) => self.builtin(frame, expr, call, next),
            Kind::Function(call) => self.call(frame, call, next),
            Kind::Every(every) => self.every(frame, expr, every, next),
            Kind::Logic(connective, bodies) => self.logic(frame, *connective, bodies, next),
        }
    }

    /// Calls the continuation for each value of a term that is not `false`.
    fn holds(&mut self, frame: &Frame<'_>, operand: &Operand, next: Continuation<'_, 'p>) -> Flow {
        let mut test = |machine: &mut Self, value: &Value| match value {
            Value::Bool(false) => Ok(()),
            _ => next(machine),
        };
        match operand {
            Operand::Reference(reference) => {
                let walk = super::value_ref::Walk {
                    steps: &reference.steps,
                    target: None,
                    stored: false,
                };
                self.values(frame, reference, walk, &mut test)
            }
            Operand::Comprehension(comprehension) => {
                let value = self.comprehension(frame, comprehension)?;
                test(self, &value)
            }
            _ => match self.value(frame, operand) {
                Some(value) => test(self, &value),
                None => Ok(()),
            },
        }
    }

    /// Calls the continuation if a negated expression has no solution. The expression is evaluated
    /// alone, as a separate body.
    fn negated(&mut self, frame: &Frame<'_>, expr: &Expr, next: Continuation<'_, 'p>) -> Flow {
        if !self.has_solutions(frame, expr)? {
            return next(self);
        }
        if self.watched() {
            self.report(frame, Op::Fail, Subject::Expr(expr));
        }
        Ok(())
    }

    /// Whether a negated expression has solutions. All solutions are searched for.
    pub(super) fn has_solutions(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
    ) -> Result<bool, Interrupt> {
        let mut child = frame.sibling(self);
        child.without_modifiers = true;
        if self.watched() {
            self.report(&child, Op::Enter, Subject::Bare(expr));
            self.report(&child, Op::Eval, Subject::BareExpr(expr));
        } else {
            let mark = self.trail.len();
            let deterministic = self.det_plain(&child, expr)?;
            self.undo(mark);
            if deterministic != Deterministic::Many {
                return Ok(deterministic == Deterministic::Holds);
            }
        }
        let mut defined = false;
        self.solutions(&child, expr, Subject::BareExpr(expr), &mut |machine| {
            if machine.watched() {
                machine.report(&child, Op::Exit, Subject::Bare(expr));
                machine.report(&child, Op::Redo, Subject::Bare(expr));
            }
            defined = true;
            Ok(())
        })?;
        Ok(defined)
    }

    /// Evaluates a body, and reports its entry and exit.
    pub(super) fn run(&mut self, frame: &Frame<'_>, next: Continuation<'_, 'p>) -> Flow {
        if !self.watched() {
            return self.body(frame, next);
        }
        self.report(frame, Op::Enter, Subject::Body);
        self.body(frame, &mut |machine| {
            machine.report(frame, Op::Exit, Subject::Body);
            let flow = next(machine);
            machine.report(frame, Op::Redo, Subject::Body);
            flow
        })
    }
}
