//! Errors of bundles.

use rego::error::LanguageError;
use rego::{Errors, Value};

use crate::diagnostic;

/// Error of a bundle that was not read or not activated, in the parts that a status report shows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct BundleError {
    message: String,
    diagnostics: Vec<LanguageError>,
}

impl BundleError {
    /// Creates an error that is not about policies.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            diagnostics: Vec::new(),
        }
    }

    /// Creates the error of a file that cannot be used.
    pub(super) fn of_file(path: &str, reason: impl std::fmt::Display) -> Self {
        Self::new(format!("bundle file `{path}`: {reason}"))
    }

    /// Creates the error of a bundle with errors in its policies.
    pub fn of_policies(errors: Errors) -> Self {
        Self {
            message: "error(s) occurred while compiling module(s)".to_owned(),
            diagnostics: errors.0,
        }
    }

    /// Error code of every bundle error.
    pub fn code(&self) -> &'static str {
        "bundle_error"
    }

    /// Errors in policies, each with its code, message and location, as error objects list them.
    pub fn errors(&self) -> Vec<Value> {
        self.diagnostics.iter().map(diagnostic::language).collect()
    }

    /// Message followed by the errors in policies, for a log or a terminal.
    pub fn in_full(&self) -> String {
        let lines = self
            .diagnostics
            .iter()
            .map(|diagnostic| format!("\n{diagnostic}"));
        std::iter::once(self.message.clone()).chain(lines).collect()
    }
}
