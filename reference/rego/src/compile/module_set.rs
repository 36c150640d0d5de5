//! Module set: all compiled modules of a policy with their rule tree, types and reverse
//! dependencies.

use rpds::RedBlackTreeMapSync;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::policy::CompiledModule;
use super::references::{Readers, Reading};
use super::rule_tree::{CompiledRule, Node, RuleKind, RuleSet};
use super::type_check::TypeNode;
use crate::Value;
use crate::hash::HashMap;
use crate::syntax::terms::{Path, data_path, dotted};
use crate::syntax::{Annotations, Term, Var};
use crate::types::signature;

/// Set of all modules. A clone shares the original's data, and a change copies only the path to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModuleSet {
    /// Modules by id, without those that are being compiled.
    pub(super) modules: RedBlackTreeMapSync<Arc<str>, Arc<CompiledModule>>,
    /// Rule tree. Rules of modules that are being compiled have no syntax trees, and are inserted
    /// once the references in heads are rewritten.
    pub(super) root: Node,
    /// Reverse dependencies: the modules that read each path.
    pub(super) readers: Readers,
    /// Types of the rules.
    pub(super) types: TypeNode,
    /// Rules of modules that are being compiled, in source order.
    pub(super) inserted: HashMap<Arc<str>, Arc<ModuleRules>>,
    /// Number of modules that have METADATA blocks with `labels`.
    pub(super) labelled: usize,
    /// Version, unique among all policies with rules.
    pub(super) version: u64,
    /// Number of the next module; numbers preserve the order in which modules were added.
    pub(super) next: u64,
}

/// Rules of a module.
#[derive(Debug, Default)]
pub(super) struct ModuleRules {
    /// Rules in source order.
    pub(super) all: Vec<Arc<CompiledRule>>,
    /// Paths that the rules read, computed on first use.
    reading: OnceLock<Reading>,
}

impl ModuleRules {
    pub(super) fn new(all: Vec<Arc<CompiledRule>>) -> Self {
        Self {
            all,
            reading: OnceLock::new(),
        }
    }
}

impl ModuleSet {
    /// Returns the root node, `data`.
    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// Returns the node at a path below `data`.
    pub(crate) fn find(&self, path: &[Value]) -> Option<&Node> {
        self.root.find(path)
    }

    /// Returns the types of the rules.
    pub(super) fn types(&self) -> &TypeNode {
        &self.types
    }

    /// Returns the paths of rules that read a path, an ancestor that contains it, or a descendant.
    pub(super) fn dependents(&self, path: &[Value]) -> BTreeSet<Path> {
        let mut modules = BTreeSet::new();
        self.readers.overlapping(path, &mut modules);
        let mut places = BTreeSet::new();
        for id in &modules {
            let compiled = || self.modules.get(id).map(|module| &module.rules);
            let Some(module) = self.inserted.get(id).or_else(compiled) else {
                continue;
            };
            let reading = module.reading.get_or_init(|| Reading::of(&module.all));
            let mut positions = BTreeSet::new();
            reading.overlapping(path, &mut positions);
            let rules = positions.into_iter().filter_map(|at| module.all.get(at));
            places.extend(rules.map(|rule| rule.path().collect::<Path>()));
        }
        places
    }

    /// Whether any METADATA block of any module has `labels`.
    pub(crate) fn has_labels(&self) -> bool {
        self.labelled > 0
    }

    /// Returns the first METADATA block with this scope in the modules of a package, whose path
    /// begins with `data`.
    pub(crate) fn block_of_package(&self, package: &[Term], scope: &str) -> Option<&Annotations> {
        let node = self.find(&data_path(package)?)?;
        let mut blocks = node.modules.iter().flat_map(|module| &module.annotations);
        blocks.find(|block| &*block.scope == scope).map(Arc::as_ref)
    }

    /// Returns the first METADATA block of the document that a reference names.
    pub(crate) fn block_of_document(&self, reference: &[Term]) -> Option<&Annotations> {
        let rules = self.rules(reference)?.all().into_iter();
        let mut blocks = rules.flat_map(|rule| rule.annotations());
        blocks
            .find(|block| &*block.scope == "document")
            .map(Arc::as_ref)
    }

    /// Returns the rules that a reference names in full; `None` if a step is not constant or there
    /// are no rules.
    pub(crate) fn rules(&self, reference: &[Term]) -> Option<&Arc<RuleSet>> {
        self.find(&data_path(reference)?)?.rules.as_ref()
    }

    /// Returns the names of the rules in all modules of a package, whose path begins with `data`.
    pub(crate) fn exports(&self, package: &[Term]) -> BTreeSet<Var> {
        let node = data_path(package).and_then(|path| self.find(&path));
        let modules = node.map(|node| node.modules.as_slice()).unwrap_or_default();
        modules
            .iter()
            .flat_map(|module| module.exports.iter().cloned())
            .collect()
    }

    /// Returns the arity of a built-in function or a rule: 0 for rules that are not functions,
    /// `None` if nothing has this name.
    pub(crate) fn arity(&self, operator: &[Term]) -> Option<usize> {
        if let Some(signature) = dotted(operator).as_deref().and_then(signature) {
            return Some(signature.arity);
        }
        self.rules(operator).map(|rules| rules.arity)
    }

    /// Whether a reference names a rule that is always defined: one with a default, a set, or a
    /// single constant.
    pub(crate) fn always_defined(&self, reference: &[Term]) -> bool {
        self.rules(reference).is_some_and(|rules| {
            rules.arity == 0
                && (rules.default.is_some()
                    || rules.kind == RuleKind::PartialSet
                    || matches!(rules.rules.as_slice(), [only] if only.is_constant()))
        })
    }
}
