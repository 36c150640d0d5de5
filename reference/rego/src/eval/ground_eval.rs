//! Evaluation of single expressions with given bindings, used by partial evaluation for everything
//! that is known.

use std::collections::BTreeSet;

use thin_vec::thin_vec;

use super::evaluation::Evaluation;
use super::machine::{Interrupt, Machine};
use crate::Value;
use crate::compile::Policy;
use crate::error::EvalError;
use crate::ir::lower;
use crate::ir::{Program, Slot};
use crate::meter::Meter;
use crate::syntax::{Expr, Var};

/// Expression lowered for evaluation.
#[derive(Debug)]
pub(crate) struct Prepared(Program);

/// Evaluates expressions in sequence, with rule results memoized between them.
pub(crate) struct GroundEvaluator<'p>(Machine<'p>);

impl Prepared {
    /// Lowers a compiled expression.
    pub(crate) fn new(expr: &Expr) -> Self {
        Self(lower::query(&thin_vec![expr.clone()]))
    }

    /// Returns the variables of the expression, including those of its closures.
    pub(crate) fn names(&self) -> &[Var] {
        &self.0.names
    }
}

impl<'p> GroundEvaluator<'p> {
    /// Begins an evaluation.
    pub(crate) fn new<'e: 'p>(
        policy: &'p Policy,
        evaluation: &Evaluation<'e>,
        meter: &'p Meter,
    ) -> Self {
        let mut machine = Machine::new(policy, evaluation, meter);
        machine.input = evaluation.input.clone().into();
        Self(machine)
    }

    /// Returns the distinct answers of an expression: the values of the requested variables, by
    /// their positions in [`Prepared::names`].
    ///
    /// # Errors
    /// An error of the evaluation.
    pub(crate) fn answers(
        &mut self,
        prepared: &Prepared,
        known: &[(Slot, Value)],
        targets: &[Slot],
    ) -> Result<Vec<Vec<Option<Value>>>, Box<EvalError>> {
        let machine = &mut self.0;
        let frame = machine.open(None, &prepared.0, targets.is_empty());
        for (slot, value) in known {
            machine.set(frame.base + slot, value.clone());
        }
        let mut seen = BTreeSet::new();
        let mut answers: Vec<Vec<_>> = Vec::new();
        let flow = machine.run(&frame, &mut |machine| {
            let values = targets
                .iter()
                .map(|slot| machine.slot(&frame, *slot).cloned());
            let answer: Vec<_> = values.collect();
            machine.meter.make(4 + answer.len());
            // Most expressions have one answer, which needs no comparison.
            if let [first] = answers.as_slice() {
                seen.insert(first.clone());
            }
            if answers.is_empty() || seen.insert(answer.clone()) {
                answers.push(answer);
            }
            Ok(())
        });
        machine.close(&frame);
        let failed = match flow {
            Err(Interrupt::Failed(error)) => Some(error),
            _ => None,
        };
        match machine.builtin_error.take().or(failed) {
            Some(error) => Err(error),
            None => Ok(answers),
        }
    }
}

impl std::fmt::Debug for GroundEvaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Concrete")
    }
}
