//! Numbers that preserve their text, so that `1e3`, `1.0` and long integers are written as they
//! were read.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;

use super::decimal::Decimal;

/// A number. `1` and `1.0` are equal, and each is written in its original form.
#[derive(Clone)]
pub struct Number(Repr);

/// Representation of a number. An integer in canonical form is stored without its text.
#[derive(Clone)]
enum Repr {
    Integer(i64),
    Text(Arc<str>),
}

/// Maximum length, including the sign, of integer texts that always fit into 64 bits.
const MAX_SHORT_INTEGER: usize = 18;

impl Number {
    /// Creates a number from a JSON text that the caller has validated.
    pub(super) fn of_checked(text: &str) -> Self {
        match canonical(text) {
            Some(integer) => Self(Repr::Integer(integer)),
            None => Self(Repr::Text(text.into())),
        }
    }

    /// Parses a number by the grammar of JSON.
    pub fn parse(text: &str) -> Option<Self> {
        Decimal::parse(text).map(|_| Self::of_checked(text))
    }

    /// Returns the number nearest to a float, unless it is infinite or NaN. Numbers of 22 digits
    /// and more, and those below 10⁻⁶, have an exponent, as Go's JSON writes floats.
    pub fn from_float(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let size = value.abs();
        let text = match size != 0.0 && !(1e-6..1e21).contains(&size) {
            true => format!("{value:e}"),
            false => value.to_string(),
        };
        Some(Self::of_checked(&match size >= 1e21 {
            true => text.replacen('e', "e+", 1),
            false => text,
        }))
    }

    /// Returns the text of the number.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Integer(integer) => Cow::Owned(integer.to_string()),
            Repr::Text(text) => Cow::Borrowed(text),
        }
    }

    /// Returns the number of digits that computations with the number may need; 0 if it fits a
    /// machine word, `None` if it has an exponent.
    pub(crate) fn digits(&self) -> Option<usize> {
        match &self.0 {
            Repr::Integer(_) => Some(0),
            Repr::Text(text) if text.contains(['e', 'E']) => None,
            Repr::Text(text) => Some(text.len()),
        }
    }

    /// Returns the value, if the number is written as an integer and fits: `1`, not `1.0` or `1e0`.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Integer(integer) => Some(*integer),
            Repr::Text(text) => text.parse().ok(),
        }
    }

    /// Returns the value, if the number is written as an integer that fits, optionally with zeros
    /// after a point: `1` and `1.0`, but not `1e0`. Array indexes and counts may have this form.
    pub(crate) fn as_whole(&self) -> Option<i64> {
        match &self.0 {
            Repr::Integer(integer) => Some(*integer),
            Repr::Text(text) => whole(text),
        }
    }

    /// Returns the nearest float, which is infinite for numbers that are too large.
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            #[expect(clippy::cast_precision_loss, reason = "the nearest float is asked for")]
            Repr::Integer(integer) => *integer as f64,
            Repr::Text(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// Returns the value, if the number is stored without its text.
    #[inline]
    pub(crate) fn small(&self) -> Option<i64> {
        match &self.0 {
            Repr::Integer(integer) => Some(*integer),
            Repr::Text(_) => None,
        }
    }

    /// Returns the value, if the number is a one-digit integer, which is common.
    pub(super) fn digit(&self) -> Option<u8> {
        let integer = self.small()?;
        u8::try_from(integer).ok().filter(|digit| *digit < 10)
    }

    /// Whether policies may compute with the number: it is not larger, or closer to zero, than
    /// certain powers of two.
    pub fn is_computable(&self) -> bool {
        match &self.0 {
            Repr::Integer(_) => true,
            Repr::Text(text) => Decimal::of_checked(text).is_computable(),
        }
    }

    fn compare_text(&self, other: &Self) -> Ordering {
        let (left, right) = (self.text(), other.text());
        if left == right {
            return Ordering::Equal;
        }
        Decimal::of_checked(&left).cmp(&Decimal::of_checked(&right))
    }
}

/// Parses a position or count: an integer of 64 bits, optionally with a sign and with zeros after a
/// decimal point. As in OPA, a text of more than 19 bytes after the sign is not an integer.
pub(crate) fn whole(text: &str) -> Option<i64> {
    const LONGEST: usize = 19;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, zeros) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit())
        && zeros.bytes().all(|byte| byte == b'0')
        && (1..=LONGEST).contains(&unsigned.len());
    if !is_whole {
        return None;
    }
    let size: i128 = if digits.is_empty() {
        0
    } else {
        digits.parse().ok()?
    };
    i64::try_from(if text.starts_with('-') { -size } else { size }).ok()
}

/// Parses an integer in canonical form.
fn canonical(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let usual = match digits.as_bytes() {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !usual || digits.len() > MAX_SHORT_INTEGER + 1 {
        return None;
    }
    text.parse().ok()
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Repr::Integer(value))
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or_else(|_| Self(Repr::Text(value.to_string().into())), Self::from)
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

impl From<BigInt> for Number {
    fn from(value: BigInt) -> Self {
        i64::try_from(&value)
            .map_or_else(|_| Self(Repr::Text(value.to_string().into())), Self::from)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Integer(integer) => fmt::Display::fmt(integer, f),
            Repr::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Integer(left), Repr::Integer(right)) => left.cmp(right),
            _ => self.compare_text(other),
        }
    }
}
