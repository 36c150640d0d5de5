//! Numbers that keep their text, so that `1e3`, `1.0` and long integers come back as they came.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A JSON number. `1` and `1.0` are equal, and each is written as it came.
#[derive(Clone)]
pub struct Number(Arc<str>);

impl Number {
    /// The number of a JSON text that the caller has checked.
    pub(super) fn of_checked(text: &str) -> Self {
        Self(text.into())
    }

    /// The number nearest to a float, unless it is infinite or no number at all.
    pub fn from_float(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self(value.to_string().into()))
    }

    /// The text of the number.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(value.to_string().into())
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(value.to_string().into())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
        let value = |number: &Self| number.0.parse().unwrap_or(f64::NAN);
        value(self).total_cmp(&value(other))
    }
}
