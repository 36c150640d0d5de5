//! Costs of calls. Each function declares its own where it is registered: calls are charged before
//! they are made, and inline attempts make only those that are certain to be quick.

use super::{Call, Failure};
use crate::Value;
use crate::meter::Ended;

/// The cost of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Linear in the operands and the result. The operands are charged before the call.
    Linear,
    /// The same but for those operands whose bits are set, counted from the first one: their size
    /// does not matter.
    LinearBut(u8),
    /// Linear in the product of the operands' sizes.
    Product,
    /// A pattern is matched against a text.
    Match,
    /// Not bounded by the operands: the function charges the meter step by step.
    Stepping,
    /// Not interrupted, because a library does it or operands are turned into something else. They
    /// are charged for what they unfold to before the call. The function bounds whatever is not
    /// linear in that.
    Library,
    /// Like [`Cost::Library`], and depends on something outside of the evaluation or affects it.
    BuiltinContext,
}

/// Operands of calls in a trial weigh at most this much, in the units of the meter.
const SIZE: usize = 2048;
const PRODUCT: usize = 256;
const MATCH: usize = 64;

/// No computation is made with more digits than these.
const LONGEST: usize = 240_000;

/// Functions that give a part of an operand, which is not made anew.
const PARTS: &[&str] = &["max", "min", "object.get"];

/// Whether a function makes its result, and does not only choose it.
pub(crate) fn makes(name: &str) -> bool {
    !PARTS.contains(&name)
}

impl Call<'_> {
    /// Counts a call before it is made.
    ///
    /// # Errors
    /// When the evaluation has to end; a trial does before a call that may take long.
    #[inline]
    pub(crate) fn afford(&self, cost: Cost, operands: &[Value]) -> Result<(), Failure> {
        if self.meter.is_trial() {
            return self.afford_in_trial(cost, operands);
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

    fn afford_in_trial(&self, cost: Cost, operands: &[Value]) -> Result<(), Failure> {
        let (free, most) = match cost {
            Cost::Linear => (0, SIZE),
            Cost::LinearBut(free) => (free, SIZE),
            Cost::Product => (0, PRODUCT),
            Cost::Match => (0, MATCH),
            Cost::Stepping | Cost::Library | Cost::BuiltinContext => {
                return Err(Failure::Ended(Ended::Trial));
            }
        };
        let counts = |(at, operand): &(usize, &Value)| {
            let is_free = *at < 8 && free & (1 << at) != 0;
            // The characters of texts are counted one by one.
            !is_free || operand.is_string()
        };
        let counted = operands.iter().enumerate().filter(counts);
        self.meter
            .admits_within(counted.map(|(_, operand)| operand), most);
        self.check()
    }
}

/// How large an operand is, without a look into its parts.
#[inline]
fn size(operand: &Value) -> usize {
    match operand {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Set(members) => members.len(),
        Value::String(text) => text.len() / 64,
        Value::Bytes(bytes) => bytes.as_bytes().len() / 64,
        Value::Number(number) if number.small().is_some() => 0,
        // The conversion of long numbers takes time with the square of their length.
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
