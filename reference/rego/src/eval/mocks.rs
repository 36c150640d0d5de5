//! Functions replaced by `with`.

use std::sync::Arc;

use crate::Value;
use crate::ir::{Callee, FunctionName};

/// Replacement of a function.
#[derive(Debug, Clone)]
pub(super) enum Mock {
    /// Result of every call.
    Value(Value),
    /// Another function, or a rule.
    Function(Arc<Callee>),
}

/// Replaced functions, outermost first.
#[derive(Debug, Default)]
pub(super) struct Mocks(Vec<(FunctionName, Mock)>);

impl Mocks {
    /// Whether no function is replaced.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of replacements.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Replaces a function.
    pub(super) fn push(&mut self, name: FunctionName, mock: Mock) {
        self.0.push((name, mock));
    }

    /// Removes all but the first `count` replacements.
    pub(super) fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    /// Returns the innermost replacement of a function of the policy, if it is replaced.
    pub(super) fn policy(&self, path: &[Value]) -> Option<Mock> {
        self.find(|name| matches!(name, FunctionName::Policy(replaced) if replaced == path))
    }

    /// Returns the innermost replacement of a built-in function, if it is replaced.
    pub(super) fn builtin(&self, name: &str) -> Option<Mock> {
        self.find(
            |replaced| matches!(replaced, FunctionName::Builtin(replaced) if *replaced == name),
        )
    }

    fn find(&self, is: impl Fn(&FunctionName) -> bool) -> Option<Mock> {
        let mut found = self.0.iter().rev();
        found
            .find(|(name, _)| is(name))
            .map(|(_, mock)| mock.clone())
    }
}
