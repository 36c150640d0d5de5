//! Compiled policy, ready to be evaluated.

use std::fmt;
use std::sync::Arc;

use super::module_set::{ModuleRules, ModuleSet};
use super::rule_tree::ModuleInterface;
use crate::Value;
use crate::error::Errors;
use crate::syntax::terms::Path;
use crate::syntax::{Module, Package};

/// All modules of an engine, compiled together, for the evaluation of queries.
///
/// It is immutable; a [`Compiler`](crate::Compiler) builds the next one from it. A clone is cheap,
/// and so is a policy that differs in one module, because they share the rest. The default is the
/// policy without modules.
///
/// ```
/// use rego::{Compiler, Module, Policy};
///
/// let module = Module::parse("example.rego", "package example\n\nallow := true\n")?;
/// let policy = Compiler::new(&Policy::default()).put("example.rego", module).compile()?;
/// assert_eq!(policy.modules().count(), 1);
/// # Ok::<(), rego::Errors>(())
/// ```
#[derive(Clone, Default)]
pub struct Policy {
    pub(super) module_set: Arc<ModuleSet>,
}

/// A module of a [`Policy`].
pub struct CompiledModule {
    pub(super) id: Arc<str>,
    /// Position in the order in which modules were added.
    pub(super) order: u64,
    /// The original tree, if the module has no source.
    pub(super) original: Option<Arc<Module>>,
    /// The compiled tree of the module, without rules.
    pub(super) frame: Module,
    pub(super) rules: Arc<ModuleRules>,
    pub(super) outline: Arc<ModuleInterface>,
    /// Paths below `data` that the module reads.
    pub(super) reads: Vec<Path>,
}

impl Policy {
    /// Returns the modules in the order in which they were added. A module that replaces another
    /// takes its position.
    pub fn modules(&self) -> impl Iterator<Item = &CompiledModule> {
        let mut modules: Vec<_> = self.module_set.modules.values().map(Arc::as_ref).collect();
        modules.sort_unstable_by_key(|module| module.order);
        modules.into_iter()
    }

    /// Returns the module with this id.
    pub fn module(&self, id: &str) -> Option<&CompiledModule> {
        self.module_set.modules.get(id).map(Arc::as_ref)
    }

    /// Returns the module set, for the evaluator.
    pub(crate) fn module_set(&self) -> &ModuleSet {
        &self.module_set
    }
}

impl CompiledModule {
    /// Returns the original tree. It is parsed again from the source, as a tree takes much more
    /// memory than the source and is only needed when a change affects the module.
    ///
    /// # Errors
    /// None, unless the tree was not that of its source.
    pub(super) fn parsed(&self) -> Result<Module, Errors> {
        match &self.original {
            Some(original) => Ok(Module::clone(original)),
            None => {
                let Module {
                    file,
                    text,
                    read_as,
                    ..
                } = &self.frame;
                Module::parse_as(file, text, *read_as)
            }
        }
    }

    /// Returns the id of the module.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the source of the module.
    pub fn text(&self) -> &str {
        &self.frame.text
    }

    /// Returns the package of the module.
    pub fn package(&self) -> &Package {
        &self.frame.package
    }

    /// Returns the compiled syntax tree: imports are resolved and removed, local variables have
    /// generated names, operators are calls.
    pub fn tree(&self) -> Module {
        Module {
            rules: self
                .rules
                .all
                .iter()
                .map(|rule| rule.ast().clone())
                .collect(),
            ..self.frame.clone()
        }
    }

    /// Returns the compiled tree as JSON, in the format of the Policy API.
    pub fn to_json(&self) -> Value {
        self.tree().to_json()
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.modules()).finish()
    }
}

impl fmt::Debug for CompiledModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}
