//! Variable bindings.

use crate::Value;

/// What a variable has while a query is evaluated.
#[derive(Debug, Clone)]
pub(super) enum Binding<'p> {
    /// No value yet.
    Unbound,
    /// A value of its own.
    Owned(Value),
    /// A part of the base documents or a constant of the policy, which outlive the evaluation.
    /// Threads that hand on the same part would wait for each other if they counted who has it.
    Borrowed(&'p Value),
}

impl From<Option<Value>> for Binding<'_> {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Unbound, Self::Owned)
    }
}

impl Binding<'_> {
    /// The value, if there is one.
    #[inline]
    pub(super) fn get(&self) -> Option<&Value> {
        match self {
            Self::Unbound => None,
            Self::Owned(value) => Some(value),
            Self::Borrowed(value) => Some(value),
        }
    }
}

const _: () = assert!(size_of::<Binding<'_>>() == size_of::<Value>());
