//! Decimal notation: digits and exponent of the text of a number.

use std::cmp::Ordering;

use num_bigint::BigUint;

/// Maximum number of digits before the point, or of zeros after it, of a number in computations.
const MAX_MAGNITUDE: i64 = 120_000;

/// Maximum number of digits of a number in computations.
const MAX_DIGITS: usize = 240_000;

/// Parsed number: its digits, with the decimal point after the first `point` of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal<'t> {
    pub(super) negative: bool,
    /// Digits before and after the point in the text, without leading zeros.
    whole: &'t str,
    fraction: &'t str,
    /// Position of the point, counted from the first digit. Exponents beyond the range of the type
    /// are clamped to its limits: no text is long enough to compensate for them.
    point: i64,
}

impl<'t> Decimal<'t> {
    /// Parses a number by the grammar of JSON.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_valid = digits(whole)
            && (whole == "0" || !whole.starts_with('0'))
            && fraction.is_none_or(digits)
            && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)));
        is_valid.then(|| Self::of_checked(text))
    }

    /// Parses the text of a valid number.
    pub(super) fn of_checked(text: &'t str) -> Self {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let whole = whole.trim_start_matches('0');
        let mut fraction = fraction.trim_end_matches('0');
        let mut point = i64::try_from(whole.len()).unwrap_or(i64::MAX);
        if whole.is_empty() {
            let small = fraction.trim_start_matches('0');
            point = -i64::try_from(fraction.len() - small.len()).unwrap_or(i64::MAX);
            fraction = small;
        }
        let limit = if exponent.starts_with('-') {
            i64::MIN
        } else {
            i64::MAX
        };
        let exponent = exponent.parse().unwrap_or(limit);
        Self {
            negative: text.len() != unsigned.len(),
            whole,
            fraction,
            point: point.saturating_add(exponent),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    /// Whether policies can compute with the number: it is zero, or its absolute value is between
    /// about 2^-100,000 and 2^100,000.
    pub(super) fn is_computable(&self) -> bool {
        self.is_zero() || self.point.abs() <= 30_103
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.bytes().chain(self.fraction.bytes())
    }

    /// Returns the digits up to the last nonzero one as an integer, and the power of ten to
    /// multiply it by; `None` if that is too large to compute with.
    pub(super) fn scaled(&self) -> Option<(BigUint, i64)> {
        if self.is_zero() {
            return Some((BigUint::ZERO, 0));
        }
        let length = self.whole.len() + self.fraction.len();
        if self.point.abs() > MAX_MAGNITUDE || length > MAX_DIGITS {
            return None;
        }
        let digits: String = self.digits().map(char::from).collect();
        let digits = digits.trim_end_matches('0');
        let length = i64::try_from(digits.len()).ok()?;
        Some((digits.parse().ok()?, self.point - length))
    }

    fn sign(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn compare_size(&self, other: &Self) -> Ordering {
        let points = self.point.cmp(&other.point);
        points.then_with(|| {
            let (mut left, mut right) = (self.digits(), other.digits());
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return Ordering::Equal,
                    (left, right) => {
                        let order = left.unwrap_or(b'0').cmp(&right.unwrap_or(b'0'));
                        if order != Ordering::Equal {
                            return order;
                        }
                    }
                }
            }
        })
    }

    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.sign().cmp(&other.sign());
        signs.then_with(|| match self.sign() {
            1 => self.compare_size(other),
            -1 => other.compare_size(self),
            _ => Ordering::Equal,
        })
    }
}
