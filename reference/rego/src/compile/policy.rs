//! Compiled policy, ready to be evaluated.

use std::fmt;
use std::sync::Arc;

use super::module_set::{ModuleRules, ModuleSet};
use super::rule_tree::ModuleInterface;
use crate::Value;
use crate::error::Errors;
use crate::syntax::terms::Path;
use crate::syntax::{Module, Package};

/// All modules of an engine, compiled together: what a query is asked of.
///
/// It never changes; a [`Compiler`](crate::Compiler) makes the next one from it. A clone is
/// cheap, and so is a policy that differs in one module, because they share the rest. The default
/// is the policy without modules.
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
    /// The place in the order in which modules came.
    pub(super) order: u64,
    /// The tree that was given, if it has no text.
    pub(super) given: Option<Arc<Module>>,
    /// The tree that the stages left, without its rules.
    pub(super) frame: Module,
    pub(super) rules: Arc<ModuleRules>,
    pub(super) outline: Arc<ModuleInterface>,
    /// What it reads below `data`.
    pub(super) reads: Vec<Path>,
}

impl Policy {
    /// The modules in the order in which they came. A module that takes another's place keeps
    /// that place.
    pub fn modules(&self) -> impl Iterator<Item = &CompiledModule> {
        let mut modules: Vec<_> = self.module_set.modules.values().map(Arc::as_ref).collect();
        modules.sort_unstable_by_key(|module| module.order);
        modules.into_iter()
    }

    /// The module of this id.
    pub fn module(&self, id: &str) -> Option<&CompiledModule> {
        self.module_set.modules.get(id).map(Arc::as_ref)
    }

    /// The rules, for the evaluator.
    pub(crate) fn module_set(&self) -> &ModuleSet {
        &self.module_set
    }
}

impl CompiledModule {
    /// The tree that was given. It is read from the text again, as a tree takes much more room
    /// than the text and is only needed when a change concerns the module.
    ///
    /// # Errors
    /// None, unless the tree was another than that of its text.
    pub(super) fn parsed(&self) -> Result<Module, Errors> {
        match &self.given {
            Some(given) => Ok(Module::clone(given)),
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

    /// The id under which it was given.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.frame.text
    }

    /// The package that it is part of.
    pub fn package(&self) -> &Package {
        &self.frame.package
    }

    /// The syntax tree as the compiler left it: imports are resolved and gone, local variables
    /// have generated names, operators are calls.
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

    /// The same tree as JSON, as the Policy API answers with it.
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
