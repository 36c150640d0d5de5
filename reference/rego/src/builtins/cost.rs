//! Costs of calls. Each function declares its cost where it is registered. Calls are charged before
//! they run, and inline evaluations run only those that are certain to be quick.

use super::{Call, Failure};
use crate::Value;
use crate::meter::AbortReason;

/// The cost of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Linear in the operands and the result. The operands are charged before the call.
    Linear,
    /// Linear in the operands except those whose bits are set (lowest bit: first operand), whose
    /// size does not matter.
    LinearBut(u8),
    /// Linear in the product of the operands' sizes.
    Product,
    /// Matching a pattern against a string.
    Match,
    /// Not bounded by the operands: the function charges the meter step by step.
    Stepping,
    /// Not interruptible, because a library does the work or operands are converted. Operands are
    /// charged for their unfolded size before the call. The function bounds any work that is not
    /// linear in that size.
    Library,
    /// Like [`Cost::Library`], but the call also depends on or affects the world outside of the
    /// evaluation.
    BuiltinContext,
}

/// Maximum weight of a call's operands in an inline evaluation, in units of the meter.
const SIZE: usize = 2048;
const PRODUCT: usize = 256;
const MATCH: usize = 64;

/// Maximum number of digits in any computation.
const LONGEST: usize = 240_000;

/// Functions that return a part of an operand without allocating it.
const PARTS: &[&str] = &["max", "min", "object.get"];

/// Whether a function allocates its result instead of only selecting it.
pub(crate) fn makes(name: &str) -> bool {
    !PARTS.contains(&name)
}

impl Call<'_> {
    /// Charges a call before it runs.
    ///
    /// # Errors
    /// When the evaluation has to end; an inline evaluation ends before a call that may take long.
    #[inline]
    pub(crate) fn afford(&self, cost: Cost, operands: &[Value]) -> Result<(), Failure> {
        if self.meter.is_inline() {
            return self.afford_inline(cost, operands);
        }
        match cost {
            Cost::Linear | Cost::Stepping => self.spend(operands.iter().map(size).sum()),
            Cost::LinearBut(_) | Cost::Product | Cost::Match => self.check(),
            Cost::Library | Cost::BuiltinContext => {
                self.begin()?;
                self.unfold(operands)
            }
        }
    }

    fn afford_inline(&self, cost: Cost, operands: &[Value]) -> Result<(), Failure> {
        let (free, maximum) = match cost {
            Cost::Linear => (0, SIZE),
            Cost::LinearBut(free) => (free, SIZE),
            Cost::Product => (0, PRODUCT),
            Cost::Match => (0, MATCH),
            Cost::Stepping | Cost::Library | Cost::BuiltinContext => {
                return Err(Failure::Aborted(AbortReason::NotInline));
            }
        };
        let counts = |(at, operand): &(usize, &Value)| {
            let is_free = *at < 8 && free & (1 << at) != 0;
            // The characters of strings are counted one by one.
            !is_free || operand.is_string()
        };
        let counted = operands.iter().enumerate().filter(counts);
        self.meter
            .admits_within(counted.map(|(_, operand)| operand), maximum);
        self.check()
    }
}

/// Shallow size of an operand, without its nested values.
#[inline]
fn size(operand: &Value) -> usize {
    match operand {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Set(members) => members.len(),
        Value::String(text) => text.len() / 64,
        Value::Bytes(bytes) => bytes.as_bytes().len() / 64,
        Value::Number(number) if number.small().is_some() => 0,
        // The conversion of long numbers takes time quadratic in their length.
        Value::Number(number) => {
            let digits = number.digits().unwrap_or(LONGEST);
            digits / 64 + (digits / 512).saturating_mul(digits / 512)
        }
        Value::Null | Value::Bool(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::PARTS;
    use crate::types::signature;

    #[test]
    fn every_name_is_that_of_a_function() {
        for name in PARTS {
            assert!(signature(name).is_some(), "{name}");
        }
    }
}
