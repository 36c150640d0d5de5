//! The two sides of the comparison: our evaluator and OPA.

use std::error::Error;
use std::path::Path;

use super::answers::Answers;
use super::call::Call;
use super::differences::Known;
use super::{ours, theirs};
use crate::servers::RestartingOpa;

/// Connection to OPA, with the known differences.
#[derive(Debug)]
pub(super) struct Sides {
    opa: RestartingOpa,
    known: Known,
}

/// Outcome of the comparison of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Same,
    /// Both sides refuse the query.
    Refused,
    /// The results differ for a known reason, given by its index.
    Explained(usize),
    Different,
}

impl Sides {
    /// # Errors
    /// When OPA cannot be built or started, or the known reasons cannot be read.
    pub(super) fn start() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            opa: RestartingOpa::start(&[], None)?,
            known: Known::read()?,
        })
    }

    /// Returns the path of the OPA executable.
    pub(super) fn program(&self) -> &Path {
        self.opa.program()
    }

    /// Returns the known differences.
    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// Evaluates calls on both sides.
    ///
    /// # Errors
    /// When OPA cannot be restarted after a panic.
    pub(super) fn values(&mut self, calls: &[Call]) -> Result<Answers, Box<dyn Error>> {
        Ok(Answers {
            theirs: theirs::values(&mut self.opa, calls)?,
            ours: ours::values(calls),
        })
    }

    /// Evaluates calls in strict mode that are undefined on both sides; returns their errors.
    ///
    /// # Errors
    /// When OPA cannot be restarted, as for [`Self::values`].
    pub(super) fn errors(&mut self, calls: &[Call]) -> Result<Answers, Box<dyn Error>> {
        Ok(Answers {
            theirs: theirs::errors(&mut self.opa, calls)?,
            ours: Ok(ours::errors(calls)),
        })
    }

    /// Evaluates one call on both sides, and compares the values, or the errors if the call is
    /// undefined on both sides.
    ///
    /// # Errors
    /// When OPA cannot be restarted, as for [`Self::values`].
    pub(super) fn one(&mut self, call: &Call) -> Result<(Answers, Verdict), Box<dyn Error>> {
        let calls = std::slice::from_ref(call);
        let mut answers = self.values(calls)?;
        if answers.ours.is_err() && answers.theirs.is_err() {
            return Ok((answers, Verdict::Refused));
        }
        if answers.both_are_undefined() {
            answers = self.errors(calls)?;
        }
        let verdict = match self.known.explains(call, &answers) {
            _ if answers.ours == answers.theirs => Verdict::Same,
            Some(number) => Verdict::Explained(number),
            None => Verdict::Different,
        };
        Ok((answers, verdict))
    }
}
