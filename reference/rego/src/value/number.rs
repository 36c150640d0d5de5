//! Numbers that keep their text, so that `1e3`, `1.0` and long integers come back as they came.

use std::fmt;
use std::sync::Arc;

/// A JSON number. Equality is that of the text.
#[derive(Clone, PartialEq, Eq)]
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
