//! Error of a call of a template function.

use crate::builtins::Failure;

/// Error of a call of a template function.
#[derive(Debug)]
pub(super) enum Wrong {
    Message(String),
    Failure(Failure),
}

impl Wrong {
    pub(super) fn message(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}
