//! Errors of queries that cannot be translated to a filter.

use std::fmt;

use crate::syntax::Location;

/// A part of a query that cannot be said in the language of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The code that clients see.
    pub code: &'static str,
    /// What it is, for people.
    pub message: String,
    /// The expression of the policy; absent for what stands nowhere.
    pub location: Option<Location>,
    /// What to do instead.
    pub advice: Option<String>,
}

impl Unsupported {
    /// The code of what is no filter.
    pub(super) const CODE: &'static str = "pe_fragment_error";

    /// The code of a reference that cannot be unknown.
    pub(super) const UNKNOWN: &'static str = "invalid_unknown";

    pub(super) fn at(location: &Location, message: impl Into<String>) -> Self {
        Self {
            code: Self::CODE,
            message: message.into(),
            location: (location.row > 0).then(|| location.clone()),
            advice: None,
        }
    }

    pub(super) fn advice(mut self, advice: String) -> Self {
        self.advice = Some(advice);
        self
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Location { file, row, .. }) = &self.location {
            write!(f, "{file}:{row}: ")?;
        }
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Unsupported {}
