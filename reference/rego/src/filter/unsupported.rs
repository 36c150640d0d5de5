//! Errors of queries that cannot be translated to a filter.

use std::fmt;

use crate::syntax::Location;

/// Part of a query that cannot be expressed in the language of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// Error code for clients.
    pub code: &'static str,
    /// Human-readable description.
    pub message: String,
    /// Location of the expression in the policy; absent for generated expressions.
    pub location: Option<Location>,
    /// Suggested alternative.
    pub advice: Option<String>,
}

impl Unsupported {
    /// Code for a query that cannot be translated to a filter.
    pub(super) const CODE: &'static str = "pe_fragment_error";

    /// Code for an unknown that is below neither `input` nor `data`.
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
