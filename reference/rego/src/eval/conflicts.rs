//! Conflict errors of rules with different values, listing the values.

use super::functions::Args;
use super::machine::{Flow, Frame, Interrupt, Machine};
use super::rules::{Candidate, Candidates};
use super::trace::Subject;
use crate::Value;
use crate::error::{EvalCode, EvalError};
use crate::ir::Program;
use crate::meter::AbortReason;
use crate::syntax::Location;
use crate::trace::Op;

/// Maximum number of values in a message.
const MAX_VALUES: usize = 10;

/// Maximum number of characters of a value in a message.
const MAX_TEXT: usize = 80;

/// First value of the conflicting rules, and the values that differ from it.
#[derive(Default)]
struct Values {
    found: Vec<(Location, Value)>,
    more: bool,
}

/// Returns the error for rules that define different values for one document or one call.
pub(super) fn conflict(frame: &Frame<'_>, candidate: Candidate<'_>, function: bool) -> Interrupt {
    let name = crate::syntax::TermValue::Ref(candidate.rule.reference[..].into());
    let message = if function {
        format!("function {name} produced conflicting values for the same inputs")
    } else {
        format!("rule {name} produced conflicting values")
    };
    Interrupt::failed_at(frame, EvalCode::Conflict, candidate.location(), message)
}

impl<'p> Machine<'p> {
    /// Adds all conflicting values to the error message of a conflict. To find them, the rules are
    /// evaluated again (functions with the same operands).
    pub(super) fn all_conflicts(
        &mut self,
        frame: &Frame<'_>,
        stop: Interrupt,
        matched: &Candidates<'p>,
        culprit: Candidate<'p>,
        arguments: Option<&Args>,
    ) -> Interrupt {
        let mut error = match stop {
            Interrupt::Failed(error) if error.is_of(culprit) => error,
            other => return other,
        };
        // Values are formatted in full before they are truncated, which may take long.
        if self.meter.is_inline() {
            return Interrupt::aborted(AbortReason::NotInline);
        }
        let builtin_error = self.builtin_error.take();
        let mut values = Values::default();
        let mut done = None;
        for candidate in &matched.candidates {
            if done == Some(candidate.address()) {
                continue;
            }
            match self.gather(
                frame,
                *candidate,
                matched.early_exit,
                arguments,
                &mut values,
            ) {
                Ok(true) => done = Some(candidate.address()),
                Ok(false) => {}
                Err(_) => break,
            }
        }
        self.builtin_error = builtin_error;
        if values.found.len() > 1 {
            values.write_to(&mut error.message);
        }
        Interrupt::Failed(error)
    }

    /// Evaluates a rule and collects its values. Returns whether the rule has any.
    fn gather(
        &mut self,
        frame: &Frame<'_>,
        candidate: Candidate<'p>,
        find_one: bool,
        arguments: Option<&Args>,
        values: &mut Values,
    ) -> Result<bool, Interrupt> {
        let Some(program) = self.program(candidate) else {
            return Ok(false);
        };
        let child = self.open(Some(frame), program, find_one);
        if self.watched() {
            self.report_enter_rule(&child, candidate);
        }
        let mark = self.trail.len();
        let mut produced = false;
        let flow = if arguments
            .is_none_or(|arguments| self.unify_parameters(&child, program, arguments))
        {
            self.body(&child, &mut |machine| {
                if machine.watched() {
                    machine.report(&child, Op::Exit, Subject::Rule(candidate));
                }
                let Some(value) = machine.head_value(&child, program) else {
                    return Ok(());
                };
                produced = true;
                values.add(candidate, value)?;
                if machine.watched() {
                    machine.report(&child, Op::Redo, Subject::Rule(candidate));
                }
                Ok(())
            })
        } else {
            Ok(())
        };
        self.trail.truncate(mark);
        self.close(&child);
        match flow {
            Ok(()) | Err(Interrupt::Exit(_)) => Ok(produced),
            Err(Interrupt::Shown) if !values.more => Ok(produced),
            Err(other) => Err(other),
        }
    }

    /// Returns the value of a rule whose body has a solution.
    pub(super) fn head_value(&self, child: &Frame<'_>, program: &Program) -> Option<Value> {
        self.value(child, program.head.value.as_ref()?)
    }
}

impl EvalError {
    /// Whether this rule raised the conflict, and not a rule that it refers to.
    fn is_of(&self, rule: Candidate<'_>) -> bool {
        self.code == EvalCode::Conflict && self.location.as_ref() == Some(rule.location())
    }
}

impl Values {
    fn add(&mut self, candidate: Candidate<'_>, value: Value) -> Flow {
        if self.found.first().is_some_and(|(_, first)| *first == value) {
            return Ok(());
        }
        if self.found.len() == MAX_VALUES {
            self.more = true;
            return Err(Interrupt::Shown);
        }
        let is_first = self.found.is_empty();
        self.found.push((candidate.location().clone(), value));
        if is_first {
            Ok(())
        } else {
            Err(Interrupt::Shown)
        }
    }

    fn write_to(mut self, message: &mut String) {
        self.found
            .sort_by_key(|(location, _)| (location.file.clone(), location.row, location.col));
        message.push(':');
        for (location, value) in &self.found {
            let Location { file, row, col, .. } = location;
            let value = shortened(&super::unparse::value(value).to_string());
            let place = if file.is_empty() {
                format!("{row}:{col}")
            } else {
                format!("{file}:{row}")
            };
            message.push_str(&format!("\n  {value} at {place}"));
        }
        if self.more {
            message.push_str("\n  ...");
        }
    }
}

/// Joins a string to one line, truncated to the maximum length.
fn shortened(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
