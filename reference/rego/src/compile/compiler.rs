//! The compiler: applies changes of modules and documents to a policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::build::Build;
use super::policy::Policy;
use crate::Value;
use crate::error::Errors;
use crate::syntax::Module;

/// Makes a [`Policy`] from another by adding, replacing and removing modules.
///
/// Only what the change concerns is compiled: the modules that are given, those of their
/// packages, and those that read what they define. A failure leaves everything as it was.
#[derive(Debug)]
pub struct Compiler {
    base: Policy,
    changes: BTreeMap<Arc<str>, Option<Box<Module>>>,
    documents: Option<Value>,
}

impl Compiler {
    /// Begins with the modules of a policy.
    pub fn new(base: &Policy) -> Self {
        Self {
            base: base.clone(),
            changes: BTreeMap::new(),
            documents: None,
        }
    }

    /// Adds a module, or puts it in the place of the one that has this id. The policy keeps its
    /// text, from which the tree is read again when another change concerns the module; a tree
    /// that was changed must be given with an empty text, and is kept itself.
    #[must_use]
    pub fn put(mut self, id: &str, module: Module) -> Self {
        self.changes.insert(id.into(), Some(Box::new(module)));
        self
    }

    /// Removes the module of this id, if there is one.
    #[must_use]
    pub fn remove(mut self, id: &str) -> Self {
        self.changes.insert(id.into(), None);
        self
    }

    /// Refuses rules that stand where these base documents already have a value. Without this
    /// call nothing is refused for that.
    #[must_use]
    pub fn documents(mut self, root: &Value) -> Self {
        self.documents = Some(root.clone());
        self
    }

    /// Compiles what has changed.
    ///
    /// # Errors
    /// All mistakes of the first step that finds any: names that are declared twice, variables
    /// without a value, rules in conflict with each other, with a package or with a base
    /// document, recursion, calls of what is no function, types that do not fit. At most ten are
    /// listed, then one that says that there may be more. The mistakes can be in modules that
    /// have not changed, where they need what has.
    pub fn compile(self) -> Result<Policy, Errors> {
        Build::new(&self.base, self.changes, self.documents)?.run()
    }
}
