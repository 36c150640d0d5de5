//! Arithmetic: exact on integers, otherwise on floats of 64 bits.

use num_bigint::{BigInt, BigUint, Sign};

use super::Number;
use super::decimal::Decimal;
use super::float::Float;

/// Error of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArithmeticError {
    /// Division by zero.
    #[error("divide by zero")]
    DivideByZero,
    /// Modulo by zero.
    #[error("modulo by zero")]
    ModuloByZero,
    /// Modulo of a number that is not an integer.
    #[error("modulo on floating-point number")]
    ModuloOnFloat,
    /// An operand or the result is too large to compute with, or too close to zero.
    #[error("number too big")]
    TooBig,
}

/// Maximum number of bits of a result.
const MAX_BITS: u64 = 400_000;

type Result<T> = std::result::Result<T, ArithmeticError>;

/// Converts an integer to a number, unless it is too large.
fn bounded(integer: BigInt) -> Result<Number> {
    if integer.bits() > MAX_BITS {
        return Err(ArithmeticError::TooBig);
    }
    Ok(Number::from(integer))
}

fn number(float: &Float) -> Result<Number> {
    Number::parse(&float.text()).ok_or(ArithmeticError::TooBig)
}

impl Number {
    /// Returns the number as an integer, if it is one, in any notation.
    ///
    /// # Errors
    /// If the number has too many digits.
    pub fn to_integer(&self) -> Result<Option<BigInt>> {
        if let Some(integer) = self.small() {
            return Ok(Some(BigInt::from(integer)));
        }
        let text = self.text();
        let decimal = Decimal::of_checked(&text);
        let (digits, power) = decimal.scaled().ok_or(ArithmeticError::TooBig)?;
        let Ok(power) = u32::try_from(power) else {
            return Ok(None);
        };
        let size = BigInt::from(digits * BigUint::from(10u32).pow(power));
        Ok(Some(if decimal.negative { -size } else { size }))
    }

    /// Whether the number is an integer, in any notation.
    ///
    /// # Errors
    /// If the number has too many digits.
    pub(crate) fn is_whole(&self) -> Result<bool> {
        Ok(self.small().is_some() || self.to_integer()?.is_some())
    }

    /// Returns the float nearest to the number.
    fn to_float(&self) -> Result<Float> {
        let text = self.text();
        let decimal = Decimal::of_checked(&text);
        let (digits, power) = decimal.scaled().ok_or(ArithmeticError::TooBig)?;
        Ok(Float::of_scaled(decimal.negative, digits, power))
    }

    /// Returns both numbers as integers, if both are integers.
    fn integers(&self, other: &Self) -> Result<Option<(BigInt, BigInt)>> {
        Ok(match self.to_integer()? {
            Some(left) => other.to_integer()?.map(|right| (left, right)),
            None => None,
        })
    }

    /// Returns both numbers, if they are small integers in canonical form.
    fn both_small(&self, other: &Self) -> Option<(i64, i64)> {
        Some((self.small()?, other.small()?))
    }

    /// Returns the sum.
    ///
    /// # Errors
    /// If an operand or the result is too large.
    pub fn plus(&self, other: &Self) -> Result<Self> {
        let small = self.both_small(other);
        if let Some(sum) = small.and_then(|(left, right)| left.checked_add(right)) {
            return Ok(Self::from(sum));
        }
        match self.integers(other)? {
            Some((left, right)) => bounded(left + right),
            None => number(&self.to_float()?.plus(&other.to_float()?)),
        }
    }

    /// Returns the difference.
    ///
    /// # Errors
    /// If an operand or the result is too large.
    pub fn minus(&self, other: &Self) -> Result<Self> {
        let small = self.both_small(other);
        if let Some(difference) = small.and_then(|(left, right)| left.checked_sub(right)) {
            return Ok(Self::from(difference));
        }
        match self.integers(other)? {
            Some((left, right)) => bounded(left - right),
            None => number(&self.to_float()?.plus(&other.to_float()?.negated())),
        }
    }

    /// Returns the product.
    ///
    /// # Errors
    /// If an operand or the result is too large.
    pub fn times(&self, other: &Self) -> Result<Self> {
        let small = self.both_small(other);
        if let Some(product) = small.and_then(|(left, right)| left.checked_mul(right)) {
            return Ok(Self::from(product));
        }
        match self.integers(other)? {
            Some((left, right)) if left.bits() + right.bits() > MAX_BITS + 1 => {
                Err(ArithmeticError::TooBig)
            }
            Some((left, right)) => bounded(left * right),
            None => number(&self.to_float()?.times(&other.to_float()?)),
        }
    }

    /// Returns the sum of numbers that are not all integers.
    ///
    /// # Errors
    /// If an operand or the result is too large.
    pub(crate) fn float_sum(numbers: &mut dyn Iterator<Item = &Self>) -> Result<Self> {
        let mut sum = Float::of_scaled(false, BigUint::ZERO, 0);
        for part in numbers {
            sum = sum.plus(&part.to_float()?);
        }
        number(&sum)
    }

    /// Returns the product of numbers that are not all integers, less precise than `times`.
    ///
    /// # Errors
    /// If an operand or the result is too large.
    pub(crate) fn float_product(numbers: &mut dyn Iterator<Item = &Self>) -> Result<Self> {
        let mut product = Float::of_scaled(false, BigUint::from(1u32), 0);
        for factor in numbers {
            product = product.times_one_of_many(&factor.to_float()?);
        }
        Self::parse(&product.product_text()).ok_or(ArithmeticError::TooBig)
    }

    /// Returns the integer part of the product, after rounding the product to a float.
    ///
    /// # Errors
    /// If an operand is too large.
    pub(crate) fn whole_product(&self, other: &Self) -> Result<BigInt> {
        Ok(self.to_float()?.times(&other.to_float()?).truncated().0)
    }

    /// Returns the quotient, a float unless both are small integers and the division is exact.
    ///
    /// # Errors
    /// If the divisor is zero, or an operand is too large.
    pub fn over(&self, other: &Self) -> Result<Self> {
        if let Some((left, right)) = self.both_small(other) {
            if right == 0 {
                return Err(ArithmeticError::DivideByZero);
            }
            if let (true, Some(0), Some(quotient)) =
                (left != 0, left.checked_rem(right), left.checked_div(right))
            {
                return Ok(Self::from(quotient));
            }
        }
        let (left, right) = (self.to_float()?, other.to_float()?);
        if right.is_zero() {
            return Err(ArithmeticError::DivideByZero);
        }
        number(&left.over(&right))
    }

    /// Returns the remainder of integers, with the sign of the dividend.
    ///
    /// # Errors
    /// If the divisor is zero, or an operand is not an integer or too large.
    pub fn modulo(&self, other: &Self) -> Result<Self> {
        if let Some((left, right)) = self.both_small(other) {
            if right == 0 {
                return Err(ArithmeticError::ModuloByZero);
            }
            return Ok(Self::from(left.checked_rem(right).unwrap_or(0)));
        }
        match self.integers(other)? {
            None => Err(ArithmeticError::ModuloOnFloat),
            Some((_, right)) if right.sign() == Sign::NoSign => Err(ArithmeticError::ModuloByZero),
            Some((left, right)) => bounded(left % right),
        }
    }

    /// Returns the absolute value.
    ///
    /// # Errors
    /// If the number is too large.
    pub fn absolute(&self) -> Result<Self> {
        if let Some(size) = self.small().and_then(i64::checked_abs) {
            return Ok(Self::from(size));
        }
        let mut float = self.to_float()?;
        float.negative = false;
        number(&float)
    }

    /// Returns the nearest integer, rounding halves away from zero.
    ///
    /// # Errors
    /// If the number is too large.
    pub fn rounded(&self) -> Result<Self> {
        self.stepped(|float| {
            let half = Float::of_scaled(float.negative, BigUint::from(5u32), -1);
            float.plus(&half).truncated().0
        })
    }

    /// Returns the least integer that is not less than the number. For numbers between -1 and 0 it
    /// is 1, as in OPA.
    ///
    /// # Errors
    /// If the number is too large.
    pub fn ceiling(&self) -> Result<Self> {
        self.stepped(|float| match float.truncated() {
            (whole, false) if whole.sign() != Sign::Minus => whole + 1,
            (whole, _) => whole,
        })
    }

    /// Returns the greatest integer that is not greater than the number. For numbers between -1 and
    /// 0 it is 0, as in OPA.
    ///
    /// # Errors
    /// If the number is too large.
    pub fn floored(&self) -> Result<Self> {
        self.stepped(|float| match float.truncated() {
            (whole, false) if whole.sign() == Sign::Minus => whole - 1,
            (whole, _) => whole,
        })
    }

    /// Returns the integer part.
    ///
    /// # Errors
    /// If the number is too large.
    pub fn truncated(&self) -> Result<BigInt> {
        // A number with a point or an exponent counts as a float.
        match self.text().contains(['.', 'e', 'E']) {
            false => Ok(self.to_integer()?.unwrap_or_default()),
            true => Ok(self.to_float()?.truncated().0),
        }
    }

    fn stepped(&self, step: impl FnOnce(&Float) -> BigInt) -> Result<Self> {
        if self.small().is_some() {
            return Ok(self.clone());
        }
        bounded(step(&self.to_float()?))
    }
}
