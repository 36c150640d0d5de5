//! Error of a call of a template function.

use crate::builtins::Failure;

/// Error of a call of a template function.
#[derive(Debug)]
pub(super) enum Wrong {
    Said(String),
    Failure(Failure),
}

impl Wrong {
    pub(super) fn said(message: &str) -> Self {
        Self::Said(message.to_owned())
    }
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}
