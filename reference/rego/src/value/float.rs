//! Binary floats with 64 bits of precision, as OPA uses where integers do not suffice.

use num_bigint::{BigInt, BigUint, Sign};

/// Precision of a float in bits.
const PRECISION: u64 = 64;

/// Precision in bits of a product of many numbers.
const PRODUCT_PRECISION: u64 = 53;

/// Value `mantissa * 2^exponent`. Zero has a sign, too.
#[derive(Debug, Clone)]
pub(super) struct Float {
    pub(super) negative: bool,
    mantissa: BigUint,
    exponent: i64,
}

fn shift(by: i64) -> u64 {
    by.unsigned_abs()
}

impl Float {
    /// Rounds to the default precision.
    fn rounded(negative: bool, mantissa: BigUint, exponent: i64, more: bool) -> Self {
        Self::rounded_to(PRECISION, negative, mantissa, exponent, more)
    }

    /// Rounds to the nearest value, ties to even. `more`: whether bits below the mantissa, which
    /// were cut off earlier, are set.
    fn rounded_to(
        precision: u64,
        negative: bool,
        mut mantissa: BigUint,
        mut exponent: i64,
        more: bool,
    ) -> Self {
        let excess = mantissa.bits().saturating_sub(precision);
        if excess > 0 {
            let half = mantissa.bit(excess - 1);
            let rest = more
                || mantissa
                    .trailing_zeros()
                    .is_some_and(|zeros| zeros < excess - 1);
            mantissa >>= excess;
            if half && (rest || mantissa.bit(0)) {
                mantissa += 1u32;
            }
            exponent = exponent.saturating_add_unsigned(excess);
        }
        Self {
            negative,
            mantissa,
            exponent,
        }
    }

    /// Returns the float nearest to `digits * 10^power`.
    pub(super) fn of_scaled(negative: bool, digits: BigUint, power: i64) -> Self {
        let size = u32::try_from(power.unsigned_abs()).unwrap_or(u32::MAX);
        let ten = BigUint::from(10u32).pow(size);
        if power >= 0 {
            return Self::rounded(negative, digits * ten, 0, false);
        }
        Self::quotient(negative, &digits, &ten, 0)
    }

    /// Returns `left / right * 2^exponent`.
    fn quotient(negative: bool, left: &BigUint, right: &BigUint, exponent: i64) -> Self {
        let widen = (right.bits() + PRECISION + 2).saturating_sub(left.bits());
        let left = left << widen;
        let whole = &left / right;
        let more = &whole * right != left;
        let exponent = exponent.saturating_sub_unsigned(widen);
        Self::rounded(negative, whole, exponent, more)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.mantissa == BigUint::ZERO
    }

    /// Returns the signed mantissa, scaled to an exponent that is not higher than that of the
    /// float.
    fn at(&self, exponent: i64) -> BigInt {
        let sign = if self.negative {
            Sign::Minus
        } else {
            Sign::Plus
        };
        let mantissa = &self.mantissa << shift(self.exponent - exponent);
        BigInt::from_biguint(sign, mantissa)
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let exponent = match (self.is_zero(), other.is_zero()) {
            (true, _) => other.exponent,
            (_, true) => self.exponent,
            _ => self.exponent.min(other.exponent),
        };
        let at = |float: &Self| {
            if float.is_zero() {
                BigInt::ZERO
            } else {
                float.at(exponent)
            }
        };
        let sum = at(self) + at(other);
        let negative = match sum.sign() {
            Sign::Minus => true,
            Sign::NoSign => self.negative && other.negative,
            Sign::Plus => false,
        };
        Self::rounded(negative, sum.into_parts().1, exponent, false)
    }

    pub(super) fn negated(mut self) -> Self {
        self.negative = !self.negative;
        self
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mantissa = &self.mantissa * &other.mantissa;
        let negative = self.negative != other.negative;
        Self::rounded(negative, mantissa, self.exponent + other.exponent, false)
    }

    /// Multiplies this float, an intermediate product of many numbers, by another one.
    pub(super) fn times_one_of_many(&self, other: &Self) -> Self {
        let mantissa = &self.mantissa * &other.mantissa;
        let negative = self.negative != other.negative;
        let exponent = self.exponent + other.exponent;
        Self::rounded_to(PRODUCT_PRECISION, negative, mantissa, exponent, false)
    }

    /// Returns the quotient. INVARIANT: the divisor is not zero.
    pub(super) fn over(&self, other: &Self) -> Self {
        let negative = self.negative != other.negative;
        let exponent = self.exponent - other.exponent;
        Self::quotient(negative, &self.mantissa, &other.mantissa, exponent)
    }

    /// Returns the integer part, and whether the float is an integer.
    pub(super) fn truncated(&self) -> (BigInt, bool) {
        let sign = if self.negative {
            Sign::Minus
        } else {
            Sign::Plus
        };
        let by = shift(self.exponent);
        let (whole, all) = if self.exponent >= 0 {
            (&self.mantissa << by, true)
        } else {
            let zeros = self.mantissa.trailing_zeros();
            (&self.mantissa >> by, zeros.is_none_or(|zeros| zeros >= by))
        };
        (BigInt::from_biguint(sign, whole), all)
    }

    /// Returns the shortest text that is nearer to this float than to any other. Integers have only
    /// digits; other numbers have an exponent if they are at least a million or less than a
    /// ten-thousandth.
    pub(super) fn text(&self) -> String {
        self.text_of(PRECISION)
    }

    /// Like [`Self::text`], for a product of many numbers.
    pub(super) fn product_text(&self) -> String {
        self.text_of(PRODUCT_PRECISION)
    }

    fn text_of(&self, precision: u64) -> String {
        let sign = if self.negative { "-" } else { "" };
        if self.is_zero() {
            return format!("{sign}0");
        }
        let (digits, point) = self.shortest(precision);
        let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
        let split = usize::try_from(point).unwrap_or(0).min(digits.len());
        let (whole, fraction) = digits.split_at(split);
        if length <= point {
            return format!("{sign}{digits}{}", zeros(point - length));
        }
        if !(-3..=6).contains(&point) {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            let exponent = point - 1;
            let mark = if exponent < 0 { '-' } else { '+' };
            return format!("{sign}{first}{dot}{rest}e{mark}{:02}", exponent.abs());
        }
        let whole = if whole.is_empty() { "0" } else { whole };
        format!("{sign}{whole}.{}{fraction}", zeros(-point))
    }

    /// Returns the digits, and the number of digits before the point. As in OPA they end at the
    /// first digit that distinguishes the value from a midpoint to one of its neighbours, which
    /// does not always yield the nearest text of that length.
    fn shortest(&self, precision: u64) -> (String, i64) {
        // The value and the midpoints to its neighbours, scaled to integers.
        let bits = self.mantissa.bits();
        let widen = precision.saturating_sub(bits);
        let mantissa = &self.mantissa << widen;
        let exponent = self.exponent.saturating_sub_unsigned(widen + 2);
        let even = !mantissa.bit(0);
        let middle: BigUint = &mantissa << 2u32;
        // Below a power of two the next float is nearer, which OPA ignores.
        let lower = &middle - 2u32;
        let upper = &middle + 2u32;
        let size = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
        let (factor, scale) = if exponent >= 0 {
            (BigUint::from(2u32).pow(size), 0)
        } else {
            (BigUint::from(5u32).pow(size), exponent)
        };
        let (middle, lower, upper) = (middle * &factor, lower * &factor, upper * &factor);
        let [middle, lower, upper] = [middle, lower, upper].map(|number| number.to_string());
        let point = i64::try_from(middle.len()).unwrap_or(i64::MAX) + scale;
        let [middle, lower, upper] =
            [&middle, &lower, &upper].map(|digits| digits.trim_end_matches('0').as_bytes());
        let mut digits = middle.to_vec();
        for (at, digit) in middle.iter().enumerate() {
            let below = *lower.get(at).unwrap_or(&b'0');
            let above = *upper.get(at).unwrap_or(&b'0');
            let down = below != *digit || (even && at + 1 == lower.len());
            let up = *digit != above && (even || digit + 1 < above || at + 1 < upper.len());
            let rest = middle.get(at + 1..).unwrap_or_default();
            if rest.is_empty() || !(down || up) {
                continue;
            }
            digits.truncate(at + 1);
            if up && (!down || is_from_half(*digit, rest)) {
                return increased(digits, point);
            }
            break;
        }
        (text(digits), point)
    }
}

/// Whether to round a digit up: `rest` is more than half of its unit, or half after an odd digit.
fn is_from_half(digit: u8, rest: &[u8]) -> bool {
    match rest {
        [b'5'] => digit % 2 == 1,
        [first, ..] => *first >= b'5',
        [] => false,
    }
}

/// Increments the last digit, and moves the point on a carry.
fn increased(mut digits: Vec<u8>, point: i64) -> (String, i64) {
    while digits.pop_if(|last| *last == b'9').is_some() {}
    match digits.last_mut() {
        Some(last) => {
            *last += 1;
            (text(digits), point)
        }
        None => ("1".to_owned(), point + 1),
    }
}

fn text(digits: Vec<u8>) -> String {
    digits.into_iter().map(char::from).collect()
}
