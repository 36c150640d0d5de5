//! Findings: the schema violations of a document.

use super::super::{Call, Failure};
use super::path::Path;
use crate::Value;

/// A schema violation.
#[derive(Debug)]
pub(super) struct Finding {
    kind: &'static str,
    /// Path of the value.
    field: String,
    text: String,
}

/// Number of string bytes that are charged as one value.
const UNIT: usize = 16;

/// Number of values in the object of a finding, without its strings.
const OBJECT: usize = 16;

impl Finding {
    /// Converts the finding to an object.
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

/// Findings on a part of a document, and a score of how well the part matches. If no alternative
/// matches, the findings of the best one are reported.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) all: Vec<Finding>,
    score: i64,
    /// Whether findings are only counted.
    is_silent: bool,
    count: usize,
}

impl Findings {
    /// Creates findings that are only counted.
    pub(super) fn silent() -> Self {
        Self {
            is_silent: true,
            ..Self::default()
        }
    }

    /// Creates empty findings that are only counted if these are.
    pub(super) fn empty_like(&self) -> Self {
        Self {
            is_silent: self.is_silent,
            ..Self::default()
        }
    }

    /// Whether there are no findings.
    pub(super) fn is_valid(&self) -> bool {
        self.count == 0
    }

    /// Records that a step of the check is complete.
    pub(super) fn step(&mut self) {
        self.score += 1;
    }

    /// Adds a finding at a path, which lowers the score by two.
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

    /// Like [`Findings::add`], with a message that contains the path.
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
        // The strings are in the finding, and twice in the object that it is converted to.
        call.make(OBJECT + (field.len() + text.len()).saturating_mul(3) / UNIT)?;
        self.all.push(Finding { kind, field, text });
        Ok(())
    }

    /// Appends the findings of a part of the check, and adds its score.
    pub(super) fn merge(&mut self, mut others: Self) {
        self.all.append(&mut others.all);
        self.score += others.score;
        self.count += others.count;
    }

    /// Retains the better of two alternatives; of equal ones, the first.
    pub(super) fn better(best: &mut Option<Self>, other: Self) {
        if best.as_ref().is_none_or(|best| other.score > best.score) {
            *best = Some(other);
        }
    }
}
