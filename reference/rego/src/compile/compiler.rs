//! The compiler: applies changes of modules and documents to a policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::build::Build;
use super::policy::Policy;
use crate::Value;
use crate::error::Errors;
use crate::syntax::Module;

/// Builds a [`Policy`] from another by adding, replacing and removing modules.
///
/// Only affected modules are compiled: those that change, those of their packages, and those that
/// read what they define. A failure leaves everything unchanged.
#[derive(Debug)]
pub struct Compiler {
    base: Policy,
    changes: BTreeMap<Arc<str>, Option<Box<Module>>>,
    documents: Option<Value>,
}

impl Compiler {
    /// Starts with the modules of a policy.
    pub fn new(base: &Policy) -> Self {
        Self {
            base: base.clone(),
            changes: BTreeMap::new(),
            documents: None,
        }
    }

    /// Adds a module, or replaces the one with this id. The policy stores only the module's source,
    /// and parses it again when another change affects the module. A module whose tree was modified
    /// must have an empty source; its tree is stored instead.
    #[must_use]
    pub fn put(mut self, id: &str, module: Module) -> Self {
        self.changes.insert(id.into(), Some(Box::new(module)));
        self
    }

    /// Removes the module with this id, if there is one.
    #[must_use]
    pub fn remove(mut self, id: &str) -> Self {
        self.changes.insert(id.into(), None);
        self
    }

    /// Rejects rules at paths where these base documents already have a value. Without this call no
    /// rule is rejected for that reason.
    #[must_use]
    pub fn documents(mut self, root: &Value) -> Self {
        self.documents = Some(root.clone());
        self
    }

    /// Compiles the changes.
    ///
    /// # Errors
    /// All errors of the first stage that reports any: duplicate declarations, unsafe variables,
    /// rules in conflict with each other, with a package or with a base document, recursion, calls
    /// of undefined functions, type errors. At most ten are listed, then one that says that the
    /// limit was reached. The errors can be in unchanged modules that depend on changed ones.
    pub fn compile(self) -> Result<Policy, Errors> {
        Build::new(&self.base, self.changes, self.documents)?.run()
    }
}
