//! Errors of bundles.

use rego::error::LanguageError;
use rego::{Errors, Value};

use crate::diagnostic;

/// Why a bundle was not read or not activated, in the parts that a status report shows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct BundleError {
    message: String,
    diagnostics: Vec<LanguageError>,
}

impl BundleError {
    /// Something is wrong that is no mistake in a policy.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            diagnostics: Vec::new(),
        }
    }

    /// A file cannot be used.
    pub(super) fn of_file(path: &str, why: impl std::fmt::Display) -> Self {
        Self::new(format!("bundle file `{path}`: {why}"))
    }

    /// Mistakes in policies.
    pub(crate) fn of_policies(errors: Errors) -> Self {
        Self {
            message: "error(s) occurred while compiling module(s)".to_owned(),
            diagnostics: errors.0,
        }
    }

    /// The code of every such error.
    pub fn code(&self) -> &'static str {
        "bundle_error"
    }

    /// The mistakes in policies, each with its code, message and place, as error objects list
    /// them.
    pub fn errors(&self) -> Vec<Value> {
        self.diagnostics.iter().map(diagnostic::language).collect()
    }

    /// The message with the mistakes, for a log or a terminal.
    pub fn in_full(&self) -> String {
        let lines = self
            .diagnostics
            .iter()
            .map(|diagnostic| format!("\n{diagnostic}"));
        std::iter::once(self.message.clone()).chain(lines).collect()
    }
}
