//! What variables have.

use crate::Value;

/// What a variable has while a query is evaluated.
#[derive(Debug, Clone)]
pub(super) enum Held<'p> {
    /// No value yet.
    Nothing,
    /// A value of its own.
    Own(Value),
    /// A part of the base documents or a constant of the policy, which outlive the evaluation.
    /// Threads that hand on the same part would wait for each other if they counted who has it.
    Lent(&'p Value),
}

impl From<Option<Value>> for Held<'_> {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Nothing, Self::Own)
    }
}

impl Held<'_> {
    /// The value, if there is one.
    #[inline]
    pub(super) fn get(&self) -> Option<&Value> {
        match self {
            Self::Nothing => None,
            Self::Own(value) => Some(value),
            Self::Lent(value) => Some(value),
        }
    }
}

const _: () = assert!(size_of::<Held<'_>>() == size_of::<Value>());
