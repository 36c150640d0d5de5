//! `bits.*`, on integers of any size.

use num_bigint::{BigInt, Sign};

use super::expected::{CallResult, big_integer, mismatch};
use super::operand::answer;
use super::{BuiltinLimit, Call, Cost, Failure, Group, Maximum};
use crate::Value;
use crate::value::{ArithmeticError, Number};

pub(super) const BUILTINS: Group = &[
    ("bits.and", Cost::Linear, |_, operands| {
        integer_answer(big_integer(operands, 1)? & big_integer(operands, 2)?)
    }),
    ("bits.lsh", Cost::Stepping, left),
    ("bits.negate", Cost::Linear, |_, operands| {
        integer_answer(!big_integer(operands, 1)?)
    }),
    ("bits.or", Cost::Linear, |_, operands| {
        integer_answer(big_integer(operands, 1)? | big_integer(operands, 2)?)
    }),
    ("bits.rsh", Cost::Stepping, right),
    ("bits.xor", Cost::Linear, |_, operands| {
        integer_answer(big_integer(operands, 1)? ^ big_integer(operands, 2)?)
    }),
];

/// Maximum number of bits of a result.
const MAX_BITS: u64 = 400_000;

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["plus", "minus", "mul", "sum", "product", "bits."],
    subject: "length of an integer result",
    most: Maximum::Bits(MAX_BITS),
}];

fn integer_answer(integer: BigInt) -> CallResult {
    answer(Number::from(integer))
}

/// Returns the shift distance. One that does not fit saturates, with the same effect.
fn shift(operands: &[Value]) -> Result<u64, Failure> {
    let by = big_integer(operands, 2)?;
    if by.sign() == Sign::Minus {
        return mismatch("operand 2 must be an unsigned integer number but got a negative integer");
    }
    Ok(u64::try_from(&by).unwrap_or(u64::MAX))
}

fn left(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let integer = big_integer(operands, 1)?;
    let by = shift(operands)?;
    if integer.sign() != Sign::NoSign && integer.bits().saturating_add(by) > MAX_BITS {
        return Err(ArithmeticError::TooBig.into());
    }
    integer_answer(integer << by.min(MAX_BITS))
}

fn right(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let integer = big_integer(operands, 1)?;
    let by = shift(operands)?.min(integer.bits() + 1);
    integer_answer(integer >> by)
}
