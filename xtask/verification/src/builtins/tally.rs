//! Counts of compared calls, for the report.

use std::collections::BTreeMap;
use std::error::Error;

use super::answers::{Answers, UNDEFINED};
use super::call::Call;
use super::declared::Function;
use super::shrink;
use super::sides::{Sides, Verdict};
use crate::report;

/// Counts of the compared calls, and the differences that were found.
#[derive(Debug, Default)]
pub(super) struct Counts {
    calls: usize,
    values: usize,
    errors: usize,
    refused: usize,
    /// Number of calls with a known difference, by the index of its reason.
    explained: BTreeMap<usize, usize>,
    /// Unexplained differences by function: their number, and the shortest call.
    differences: BTreeMap<String, (usize, Call)>,
    /// Reports about the unexplained differences of the functions that are finished.
    examples: Vec<String>,
}

impl Counts {
    /// Compares calls in one query. If the results differ, compares each half of the calls.
    ///
    /// # Errors
    /// When OPA cannot be restarted.
    pub(super) fn compare(
        &mut self,
        sides: &mut Sides,
        function: &Function,
        calls: &[Call],
    ) -> Result<(), Box<dyn Error>> {
        let answers = sides.values(calls)?;
        if let (Ok(theirs), true) = (&answers.theirs, answers.theirs == answers.ours) {
            let is_undefined = |answer: &String| answer == UNDEFINED;
            self.values += theirs.iter().filter(|answer| !is_undefined(answer)).count();
            let pairs = calls.iter().zip(theirs);
            let undefined = pairs.filter(|(_, answer)| is_undefined(answer));
            let undefined: Vec<Call> = undefined.map(|(call, _)| call.clone()).collect();
            self.calls += calls.len() - undefined.len();
            return self.compare_errors(sides, function, &undefined);
        }
        if let [call] = calls {
            return self.one(sides, function, call);
        }
        let (left, right) = calls.split_at(calls.len() / 2);
        self.compare(sides, function, left)?;
        self.compare(sides, function, right)
    }

    /// Compares the errors of calls that are undefined on both sides.
    fn compare_errors(
        &mut self,
        sides: &mut Sides,
        function: &Function,
        calls: &[Call],
    ) -> Result<(), Box<dyn Error>> {
        if calls.is_empty() {
            return Ok(());
        }
        let answers = sides.errors(calls)?;
        let (Ok(ours), Ok(theirs)) = (&answers.ours, &answers.theirs) else {
            return calls
                .iter()
                .try_for_each(|call| self.one(sides, function, call));
        };
        for (call, (ours, theirs)) in calls.iter().zip(ours.iter().zip(theirs)) {
            match ours == theirs {
                true => {
                    self.calls += 1;
                    self.errors += 1;
                }
                false => self.one(sides, function, call)?,
            }
        }
        Ok(())
    }

    fn one(
        &mut self,
        sides: &mut Sides,
        function: &Function,
        call: &Call,
    ) -> Result<(), Box<dyn Error>> {
        self.calls += 1;
        match sides.one(call)?.1 {
            Verdict::Same => self.values += 1,
            Verdict::Refused => self.refused += 1,
            Verdict::Explained(number) => *self.explained.entry(number).or_default() += 1,
            Verdict::Different => {
                let entry = self.differences.entry(function.name.clone());
                let (count, smallest) = entry.or_insert_with(|| (0, call.clone()));
                *count += 1;
                if call.to_string().len() < smallest.to_string().len() {
                    *smallest = call.clone();
                }
            }
        }
        Ok(())
    }

    /// Ends the comparison of a function: simplifies its shortest call with different results, and
    /// records the report.
    ///
    /// # Errors
    /// When OPA cannot be restarted, as for [`Self::compare`].
    pub(super) fn end_function(
        &mut self,
        sides: &mut Sides,
        function: &Function,
    ) -> Result<(), Box<dyn Error>> {
        let Some((count, call)) = self.differences.get(&function.name) else {
            return Ok(());
        };
        let call = shrink::smallest(sides, function, call)?;
        let (answers, _) = sides.one(&call)?;
        let (ours, theirs) = (
            Answers::format_outcome(&answers.ours),
            Answers::format_outcome(&answers.theirs),
        );
        let text = format!("{count} calls, such as {call}\n  ours: {ours}\n  OPA:  {theirs}");
        self.examples.push(text);
        Ok(())
    }

    /// Returns the number of functions with unexplained differences.
    pub(super) fn functions_that_differ(&self) -> usize {
        self.differences.len()
    }

    /// Prints the counts and the reports about differences.
    pub(super) fn report(&self, sides: &Sides) {
        for text in &self.examples {
            report("differ", text);
        }
        for (number, count) in &self.explained {
            let reason = sides.known().reason(*number);
            report("explained", &format!("{count} calls: {reason}"));
        }
        let explained: usize = self.explained.values().sum();
        let differ: usize = self.differences.values().map(|(count, _)| count).sum();
        let (calls, values, errors, refused) = (self.calls, self.values, self.errors, self.refused);
        report(
            "calls",
            &format!(
                "{calls}: {values} with the same value, {errors} undefined with the same error, \
                 {refused} refused by both, {explained} different for a reason, {differ} without one"
            ),
        );
    }
}
