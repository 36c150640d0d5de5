//! Findings: the defects of a document by its schema.

use super::super::{Call, Failure};
use super::path::Path;
use crate::Value;

/// One thing that is wrong.
#[derive(Debug)]
pub(super) struct Finding {
    kind: &'static str,
    /// Where it is.
    field: String,
    text: String,
}

/// The bytes of texts that weigh as much as a value.
const UNIT: usize = 16;

/// The number of values in the object of a finding, without its texts.
const OBJECT: usize = 16;

impl Finding {
    /// The finding as an object.
    pub(super) fn to_value(&self) -> Value {
        let error = format!("{}: {}", self.field, self.text);
        Value::object([
            ("desc", Value::from(self.text.as_str())),
            ("error", Value::from(error)),
            ("field", Value::from(self.field.as_str())),
            ("type", Value::from(self.kind)),
        ])
    }
}

/// The findings on a part of a document, and how well the part fits. Of alternatives of which none
/// fits, the findings of the best one are reported.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) all: Vec<Finding>,
    score: i64,
    /// Whether only their number is wanted.
    is_silent: bool,
    count: usize,
}

impl Findings {
    /// Findings that are only counted.
    pub(super) fn silent() -> Self {
        Self {
            is_silent: true,
            ..Self::default()
        }
    }

    /// Findings beside these.
    pub(super) fn beside(&self) -> Self {
        Self {
            is_silent: self.is_silent,
            ..Self::default()
        }
    }

    /// Whether nothing is wrong.
    pub(super) fn is_valid(&self) -> bool {
        self.count == 0
    }

    /// Takes note that a step of the check is over.
    pub(super) fn step(&mut self) {
        self.score += 1;
    }

    /// Adds a finding at a place, which costs two steps.
    ///
    /// # Errors
    /// When the evaluation has to end.
    pub(super) fn add(
        &mut self,
        call: &Call<'_>,
        path: &Path<'_>,
        kind: &'static str,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        self.add_at(call, path, kind, |_| text())
    }

    /// The same with a text that names the place.
    ///
    /// # Errors
    /// When the evaluation has to end.
    pub(super) fn add_at(
        &mut self,
        call: &Call<'_>,
        path: &Path<'_>,
        kind: &'static str,
        text: impl FnOnce(&str) -> String,
    ) -> Result<(), Failure> {
        self.count += 1;
        self.score -= 2;
        if self.is_silent {
            return call.check();
        }
        let field = path.field();
        let text = text(&field);
        // The texts are in the finding, and twice in the object that it becomes.
        call.make(OBJECT + (field.len() + text.len()).saturating_mul(3) / UNIT)?;
        self.all.push(Finding { kind, field, text });
        Ok(())
    }

    /// Adds the findings of a part of the check.
    pub(super) fn merge(&mut self, mut others: Self) {
        self.all.append(&mut others.all);
        self.score += others.score;
        self.count += others.count;
    }

    /// Keeps those of two alternatives that fit better; of equal ones, the first.
    pub(super) fn better(best: &mut Option<Self>, other: Self) {
        if best.as_ref().is_none_or(|best| other.score > best.score) {
            *best = Some(other);
        }
    }
}
