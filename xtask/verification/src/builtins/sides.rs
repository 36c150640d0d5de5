//! Both sides of the comparison.

use std::error::Error;
use std::path::Path;

use super::call::Call;
use super::differences::Known;
use super::{ours, theirs};
use crate::servers::RestartingOpa;

/// The answers of one side to calls: of each its value as JSON and as a literal, in a list that is
/// empty if it is undefined; or the error of the query.
pub(super) type Outcome = Result<Vec<String>, String>;

/// The answer to a call that is undefined.
pub(super) const UNDEFINED: &str = "[] []";

/// The real OPA, and the differences from it that have a reason.
#[derive(Debug)]
pub(super) struct Sides {
    opa: RestartingOpa,
    known: Known,
}

/// The answers of both sides to the same calls.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) ours: Outcome,
    pub(super) theirs: Outcome,
}

/// The verdict on one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Same,
    /// Both sides refuse the query itself.
    Refused,
    /// Different, for the reason of this number.
    Explained(usize),
    Different,
}

impl Sides {
    /// # Errors
    /// OPA cannot be built or started; the reasons cannot be read.
    pub(super) fn start() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            opa: RestartingOpa::start(&[], None)?,
            known: Known::read()?,
        })
    }

    /// The program of OPA.
    pub(super) fn program(&self) -> &Path {
        self.opa.program()
    }

    /// The differences that have a reason.
    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// Asks for the values of calls.
    ///
    /// # Errors
    /// OPA cannot be started again behind a panic.
    pub(super) fn values(&mut self, calls: &[Call]) -> Result<Answers, Box<dyn Error>> {
        Ok(Answers {
            theirs: theirs::values(&mut self.opa, calls)?,
            ours: ours::values(calls),
        })
    }

    /// Asks for the errors of calls that are undefined, where errors end the evaluation.
    ///
    /// # Errors
    /// As [`Self::values`].
    pub(super) fn errors(&mut self, calls: &[Call]) -> Result<Answers, Box<dyn Error>> {
        Ok(Answers {
            theirs: theirs::errors(&mut self.opa, calls)?,
            ours: Ok(ours::errors(calls)),
        })
    }

    /// Asks for one call: its value, or its error if both sides have no value.
    ///
    /// # Errors
    /// As [`Self::values`].
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

impl Answers {
    /// Whether no call has a value on either side.
    fn both_are_undefined(&self) -> bool {
        let is_undefined = |side: &Outcome| {
            let all = |answers: &Vec<String>| answers.iter().all(|answer| answer == UNDEFINED);
            side.as_ref().is_ok_and(all)
        };
        is_undefined(&self.ours) && is_undefined(&self.theirs)
    }

    /// One side in words.
    pub(super) fn shown(side: &Outcome) -> String {
        match side {
            Ok(answers) => answers.join(" "),
            Err(why) => format!("error: {why}"),
        }
    }
}
