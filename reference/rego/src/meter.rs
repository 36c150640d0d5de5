//! Limits of the time and memory of an evaluation, and the measurement of both.
//!
//! Every operation that can take long counts its work in *units*, each of which takes well under a
//! microsecond. After a number of units, the evaluation checks for cancellation, the clock, and the
//! memory that it has allocated. A check costs about as much as a few units.
//!
//! An *inline evaluation* runs on a thread that others wait for. It has no effects, so that it can
//! be abandoned at any time and repeated elsewhere. It checks the clock often, and does nothing
//! that could take long between two checks: operands are weighed before they are compared or passed
//! to a function. Where an operation cannot fail at once, the evaluation becomes *invalid*: its
//! results are not used, and it ends at its next check.

use std::cell::Cell;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::Value;
use crate::error::{EvalCode, EvalError};

/// Number of units between checks.
const CHECK_INTERVAL: i64 = 1024;

/// Number of units between checks in an inline evaluation.
const TRIAL_INTERVAL: i64 = 64;

/// Maximum weight, in units, of the values that an inline evaluation compares or passes to a
/// function.
pub(crate) const LIGHT: usize = 2048;

/// Number of bytes of a string that weigh as much as one value.
const TEXT_UNIT: usize = 16;

/// Average memory of a value in bytes, including its allocations.
pub const VALUE_BYTES: u64 = 56;

/// Limits of an evaluation. By default there are none.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Time at which the evaluation has to end.
    pub deadline: Option<Instant>,
    /// Maximum number of values that the evaluation may allocate: items of collections, members,
    /// and pieces of strings. Values that are no longer needed count, too.
    pub values: Option<u64>,
    /// Whether this is an inline evaluation, which ends as soon as it is not certain to be quick.
    pub inline: bool,
    /// Scheduler that shares threads and memory among evaluations.
    pub governor: Option<Arc<dyn Governor>>,
}

/// Shares threads and memory among evaluations.
pub trait Governor: Debug + Send + Sync {
    /// Reports a running evaluation, and the bytes that it has allocated since its last report. The
    /// call may block; `check_cancelled` checks meanwhile whether the evaluation should continue.
    ///
    /// # Errors
    /// If the evaluation cannot continue.
    fn checkpoint(
        &self,
        allocated: u64,
        check_cancelled: &dyn Fn() -> Result<(), AbortReason>,
    ) -> Result<(), AbortReason>;

    /// Reports that an evaluation waits for something else, and needs no thread until its next
    /// checkpoint.
    fn rest(&self);
}

/// Reason why an evaluation ends without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AbortReason {
    /// The evaluation was cancelled.
    Cancelled,
    /// The deadline has passed.
    TimedOut,
    /// The evaluation has allocated too many values.
    Values,
    /// The memory that all evaluations share is exhausted.
    Memory,
    /// An inline evaluation has to be repeated as one that may take longer.
    NotInline,
}

/// Work and memory of one evaluation, and its limits.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Units until the next check.
    left: Cell<i64>,
    /// Values allocated since the last check.
    allocated: Cell<u64>,
    /// Values allocated before the last check.
    total: Cell<u64>,
    /// Whether there has been a check before.
    checked: Cell<bool>,
    /// Whether the result of this inline evaluation is invalid.
    invalid: Cell<bool>,
    /// Reason to end the evaluation, recorded by an operation that cannot fail.
    overdrawn: Cell<Option<AbortReason>>,
    cancelled: Option<Arc<AtomicBool>>,
    limits: Limits,
}

impl AbortReason {
    /// Returns the evaluation error for this reason.
    pub(crate) fn error(self) -> EvalError {
        let (code, message) = match self {
            Self::Cancelled => (EvalCode::Cancelled, "caller cancelled query execution"),
            Self::TimedOut => (EvalCode::Cancelled, "query execution took too long"),
            Self::Values => (EvalCode::Internal, "query execution made too many values"),
            Self::Memory => (EvalCode::Memory, "no memory is left for query execution"),
            Self::NotInline => (
                EvalCode::NotInline,
                "query execution takes longer than an inline evaluation may",
            ),
        };
        EvalError {
            code,
            message: message.to_owned(),
            location: None,
            stack: Vec::new(),
        }
    }
}

impl Meter {
    /// Length in bytes below which strings are compared without a charge.
    pub(crate) const SHORT_TEXT: usize = TEXT_UNIT;

    pub(crate) fn new(cancelled: Option<Arc<AtomicBool>>, limits: Limits) -> Self {
        Self {
            cancelled,
            limits,
            ..Self::default()
        }
    }

    /// Charges a unit.
    ///
    /// # Errors
    /// If the evaluation has to end.
    #[inline]
    pub(crate) fn tick(&self) -> Result<(), AbortReason> {
        self.spend(1)
    }

    /// Charges units before the work is done.
    ///
    /// # Errors
    /// If the evaluation has to end.
    #[inline]
    pub(crate) fn spend(&self, units: usize) -> Result<(), AbortReason> {
        let left = self.left.get().saturating_sub_unsigned(units as u64);
        self.left.set(left);
        if left >= 0 { Ok(()) } else { self.look() }
    }

    /// Charges units of work that is done.
    #[inline]
    pub(crate) fn count(&self, units: usize) {
        self.left
            .set(self.left.get().saturating_sub_unsigned(units as u64));
    }

    /// Charges allocated values.
    #[inline]
    pub(crate) fn make(&self, values: usize) {
        let values = values as u64;
        self.allocated
            .set(self.allocated.get().saturating_add(values));
        self.left
            .set(self.left.get().saturating_sub_unsigned(values));
    }

    /// Charges an allocated value: its items or members, but not their contents.
    #[inline]
    pub(crate) fn make_value(&self, value: &Value) {
        self.make(match value {
            Value::Array(items) => 2 + items.len(),
            Value::Object(members) => 3 + 2 * members.len(),
            Value::Set(members) => Self::set(members.len()),
            Value::String(text) => text.len() / TEXT_UNIT,
            Value::Bytes(bytes) => bytes.as_bytes().len() / TEXT_UNIT,
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        });
    }

    /// Fails if the given number of further values would exceed the limit.
    pub(crate) fn check_room(&self, values: usize) -> Result<(), AbortReason> {
        let allocated = self.total.get().saturating_add(self.allocated.get());
        let would = allocated.saturating_add(values as u64);
        match self.limits.values {
            Some(most) if would > most => Err(AbortReason::Values),
            _ => Ok(()),
        }
    }

    /// Returns the charge for a set: it takes more memory than its members.
    pub(crate) fn set(members: usize) -> usize {
        12 + 2 * members
    }

    /// Whether this is an inline evaluation.
    #[inline]
    pub(crate) fn is_inline(&self) -> bool {
        self.limits.inline
    }

    /// Ends an inline evaluation at its next check.
    pub(crate) fn invalidate(&self) {
        self.invalid.set(true);
        self.left.set(-1);
    }

    /// Fails if the result of the evaluation is invalid: it is an invalid inline evaluation, or a
    /// charge exceeded a limit.
    pub(crate) fn check_valid(&self) -> Result<(), AbortReason> {
        match (self.invalid.get(), self.overdrawn.get()) {
            (true, _) => Err(AbortReason::NotInline),
            (false, Some(ended)) => Err(ended),
            (false, None) => Ok(()),
        }
    }

    /// Charges the expanded size of a value, node by node: shared parts count wherever they occur.
    /// Must be called before a value is converted to something else.
    ///
    /// # Errors
    /// If the evaluation has to end.
    pub(crate) fn unfold(&self, value: &Value) -> Result<(), AbortReason> {
        self.make(1);
        self.make_value(value);
        self.tick()?;
        if !value.is_composite() {
            return Ok(());
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.unfold(item)),
            Value::Set(members) => members.iter().try_for_each(|member| self.unfold(member)),
            Value::Object(members) => members.iter().try_for_each(|(key, member)| {
                self.unfold(key)?;
                self.unfold(member)
            }),
            _ => Ok(()),
        })
    }

    /// Whether a value may be converted to something else, for callers that cannot fail. If not,
    /// the evaluation ends at its next check.
    pub(crate) fn unfolds(&self, value: &Value) -> bool {
        let unfolded = self.unfold(value);
        if let Err(ended) = unfolded {
            self.overdrawn.set(Some(ended));
            self.left.set(-1);
        }
        unfolded.is_ok()
    }

    /// Whether a value may be traversed as a whole: always, except for heavy ones in an inline
    /// evaluation, which they spoil.
    #[inline]
    pub(crate) fn admits(&self, value: &Value) -> bool {
        if !self.limits.inline {
            return true;
        }
        match value {
            Value::Null | Value::Bool(_) => true,
            Value::String(text) if text.len() < TEXT_UNIT => true,
            value => self.admits_within(std::iter::once(value), LIGHT),
        }
    }

    /// Whether two values may be compared.
    #[inline]
    pub(crate) fn admits_both(&self, left: &Value, right: &Value) -> bool {
        if !self.limits.inline {
            return true;
        }
        // Values of different types and lengths are distinguished at once.
        match (left, right) {
            (Value::Array(left), Value::Array(right)) if left.len() != right.len() => true,
            (Value::Object(left), Value::Object(right)) if left.len() != right.len() => true,
            (Value::Set(left), Value::Set(right)) if left.len() != right.len() => true,
            (Value::String(left), Value::String(right)) if left.len() != right.len() => true,
            (Value::Array(_), Value::Array(_))
            | (Value::Object(_), Value::Object(_))
            | (Value::Set(_), Value::Set(_))
            | (Value::String(_), Value::String(_))
            | (Value::Bytes(_), Value::Bytes(_)) => self.admits(left),
            (Value::Number(_), Value::Number(_)) => self.admits(left) && self.admits(right),
            _ => true,
        }
    }

    /// Whether values together weigh at most `most`; if not, the inline evaluation is invalid.
    pub(crate) fn admits_within<'v>(
        &self,
        mut values: impl Iterator<Item = &'v Value>,
        most: usize,
    ) -> bool {
        let mut remaining = most;
        let admitted = values.all(|value| deduct_weight(value, &mut remaining));
        let weight = i64::try_from(most - remaining).unwrap_or(i64::MAX);
        self.left.set(self.left.get().saturating_sub(weight));
        if !admitted {
            self.invalidate();
        }
        admitted
    }

    /// Reports that the evaluation waits for something else.
    pub(crate) fn rest(&self) {
        if let Some(governor) = &self.limits.governor {
            governor.rest();
        }
    }

    /// Fails if the evaluation has to end.
    #[cold]
    pub(crate) fn look(&self) -> Result<(), AbortReason> {
        let limits = &self.limits;
        self.check_valid()?;
        self.wanted()?;
        let allocated = self.allocated.take();
        let total = self.total.get().saturating_add(allocated);
        self.total.set(total);
        if limits.values.is_some_and(|most| total > most) {
            return Err(if limits.inline {
                self.invalidate();
                AbortReason::NotInline
            } else {
                AbortReason::Values
            });
        }
        // An evaluation that ends before its second check does not involve the governor.
        let has_checked = self.checked.replace(true);
        if let Some(governor) = &limits.governor
            && has_checked
            && !limits.inline
        {
            governor.checkpoint(allocated.saturating_mul(VALUE_BYTES), &|| self.wanted())?;
        }
        self.left.set(if limits.inline {
            TRIAL_INTERVAL
        } else {
            CHECK_INTERVAL
        });
        Ok(())
    }

    /// Fails if the evaluation was cancelled, or its deadline has passed.
    pub(crate) fn wanted(&self) -> Result<(), AbortReason> {
        let cancelled = self.cancelled.as_ref();
        if cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)) {
            return Err(AbortReason::Cancelled);
        }
        match self.limits.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(if self.limits.inline {
                self.invalidate();
                AbortReason::NotInline
            } else {
                AbortReason::TimedOut
            }),
            _ => Ok(()),
        }
    }
}

/// Deducts the weight of a value from `remaining`, in units. Returns false if that is not enough.
fn deduct_weight(value: &Value, remaining: &mut usize) -> bool {
    let weight = match value {
        Value::Null | Value::Bool(_) => 1,
        Value::Number(number) => match number.digits() {
            Some(digits) => 1 + digits / 2,
            None => return false,
        },
        Value::String(text) => 1 + text.len() / TEXT_UNIT,
        Value::Bytes(bytes) => 1 + bytes.as_bytes().len() / TEXT_UNIT,
        Value::Array(items) => 1 + items.len(),
        Value::Object(members) => 1 + members.len(),
        Value::Set(members) => 1 + members.len(),
    };
    let Some(rest) = remaining.checked_sub(weight) else {
        return false;
    };
    *remaining = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| deduct_weight(item, remaining)),
        Value::Object(members) => members
            .iter()
            .all(|(key, item)| deduct_weight(key, remaining) && deduct_weight(item, remaining)),
        Value::Set(members) => members.iter().all(|item| deduct_weight(item, remaining)),
        _ => true,
    }
}
