//! Variable bindings.

use crate::Value;

/// Binding of a variable during evaluation.
#[derive(Debug, Clone)]
pub(super) enum Binding<'p> {
    /// No value yet.
    Unbound,
    /// An owned value.
    Owned(Value),
    /// A value in the base documents, or a constant of the policy, which outlive the evaluation. It
    /// is not cloned, because threads that share it would contend for its reference counter.
    Borrowed(&'p Value),
}

impl From<Option<Value>> for Binding<'_> {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Unbound, Self::Owned)
    }
}

impl Binding<'_> {
    /// Returns the value, if the variable is bound.
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
