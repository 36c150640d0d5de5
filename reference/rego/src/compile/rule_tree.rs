//! Rule tree: rules by their path below `data`. A changed tree shares unchanged parts with the
//! original.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use rpds::RedBlackTreeMapSync;

use super::index::Index;
use super::module_set::ModuleSet;
use super::persistent_tree::change_child;
use crate::Value;
use crate::syntax::{self, Annotations, Ref, Var};

pub(crate) use super::rule::{CompiledRule, SourceNames, ground_steps};

/// Node of the rule tree, for a path below `data`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    /// Rules at the path. A rule whose reference has variables is at its longest constant prefix.
    pub(crate) rules: Option<Arc<RuleSet>>,
    /// Modules whose package has this path, in the order of their ids.
    pub(crate) modules: Vec<Arc<ModuleInterface>>,
    children: RedBlackTreeMapSync<Value, Arc<Node>>,
}

/// Interface of a module to other modules.
#[derive(Debug)]
pub(crate) struct ModuleInterface {
    /// Id of the module.
    pub(crate) id: Arc<str>,
    /// Path of the module's package, beginning with `data`.
    pub(crate) package: Ref,
    /// Names of the module's rules in source order, possibly with duplicates.
    pub(crate) exports: Vec<Var>,
    /// METADATA blocks of the module.
    pub(crate) annotations: Vec<Arc<Annotations>>,
}

/// Kind of the document that the rules of one path define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleKind {
    /// One value: `p := 1`.
    Complete,
    /// Members of a set: `p contains x`.
    PartialSet,
    /// Members of an object, at any depth: `p[x] := y`, `p[x].q contains y`.
    PartialObject,
    /// The value of a call: `f(x) := y`.
    Function,
}

/// Rules of one path.
#[derive(Debug)]
pub(crate) struct RuleSet {
    /// Kind of the document that the rules define.
    pub(crate) kind: RuleKind,
    /// Number of parameters of each rule; 0 if they are not functions.
    pub(crate) arity: usize,
    /// Default rule.
    pub(crate) default: Option<Arc<CompiledRule>>,
    /// Further default rules, which are a conflict.
    surplus: Vec<Arc<CompiledRule>>,
    /// Other rules, sorted by the depth of their package, the ids of their modules and source
    /// order.
    pub(crate) rules: Vec<Arc<CompiledRule>>,
    /// Index that selects the candidate rules for given documents. If rules below extend a
    /// reference with variables, those rules are candidates too, see [`Node::extent`].
    pub(crate) index: OnceLock<Index>,
    /// Version of the policy for which [`Self::is_independent`] was last computed, with the result
    /// as the last bit. In another version, the rules that these refer to may differ.
    independent: AtomicU64,
}

impl ModuleInterface {
    /// Whether a METADATA block of the module has `labels`.
    pub(super) fn has_labels(&self) -> bool {
        let mut blocks = self.annotations.iter();
        blocks.any(|block| block.labels().is_some())
    }
}

impl RuleSet {
    /// Creates the set of the rules of one path, in any order; `None` if there are none.
    fn new(mut all: Vec<Arc<CompiledRule>>) -> Option<Self> {
        all.sort_by(|left, right| left.order().cmp(&right.order()));
        let first = all.first()?;
        let arity = first.arity;
        let kind = if arity > 0 {
            RuleKind::Function
        } else if all.iter().any(|rule| !rule.is_ground()) {
            RuleKind::PartialObject
        } else if first.is_multi_value() {
            RuleKind::PartialSet
        } else {
            RuleKind::Complete
        };
        let (defaults, rules): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|rule| rule.is_default());
        let mut defaults = defaults.into_iter();
        Some(Self {
            kind,
            arity,
            default: defaults.next(),
            surplus: defaults.collect(),
            rules,
            index: OnceLock::new(),
            independent: AtomicU64::new(0),
        })
    }

    /// Adds rules to those of a path. Finished rules replace unfinished ones.
    pub(super) fn with(old: Option<&Self>, more: Vec<Arc<CompiledRule>>) -> Option<Self> {
        let is_finished = more.iter().any(|rule| rule.is_finished());
        let old = old.iter().flat_map(|old| old.all());
        let old = old
            .filter(|rule| !is_finished || rule.is_finished())
            .cloned();
        Self::new(old.chain(more).collect())
    }

    /// Whether one rule may be enough for a value, as far as is known: some rules have constant
    /// values, or there is only the default.
    pub(crate) fn one_rule_may_suffice(&self) -> bool {
        let index = self.index.get();
        self.rules.is_empty() || index.is_some_and(Index::has_constants)
    }

    /// Whether the rules refer to no others, or only to rules of which one is always enough, so
    /// that it is not observable when they are evaluated. An inline evaluation uses only cached
    /// results.
    pub(crate) fn is_independent(&self, module_set: &ModuleSet, is_inline: bool) -> bool {
        let known = self.independent.load(Ordering::Relaxed);
        if known >> 1 == module_set.version {
            return known & 1 == 1;
        }
        if is_inline {
            return false;
        }
        let is_independent = syntax::deep(|| self.reads_no_others(module_set));
        let known = module_set.version << 1 | u64::from(is_independent);
        self.independent.store(known, Ordering::Relaxed);
        is_independent
    }

    fn reads_no_others(&self, module_set: &ModuleSet) -> bool {
        let all = self.all();
        let mut reads = all.iter().flat_map(|rule| rule.reads().iter().flatten());
        reads.all(|read| {
            let mut found = Vec::new();
            read.rules(module_set, &mut found);
            found.iter().all(|rule| {
                let path: Vec<_> = rule.path().collect();
                let set = module_set.find(&path).and_then(|node| node.rules.as_ref());
                set.is_some_and(|set| set.one_rule_suffices(module_set))
            })
        })
    }

    /// Whether the first rule with a value is enough for every query.
    fn one_rule_suffices(&self, module_set: &ModuleSet) -> bool {
        self.kind == RuleKind::Complete
            && self.surplus.is_empty()
            && self.index(module_set.root()).one_rule_suffices()
            && self.is_independent(module_set, false)
    }

    /// Returns all rules, including default rules, in source order.
    pub(crate) fn all(&self) -> Vec<&Arc<CompiledRule>> {
        let defaults = self.default.iter().chain(&self.surplus);
        let mut all: Vec<_> = self.rules.iter().chain(defaults).collect();
        if self.default.is_some() {
            all.sort_by(|left, right| left.order().cmp(&right.order()));
        }
        all
    }
}

impl Node {
    /// Returns the child with a key.
    pub(crate) fn child(&self, key: &Value) -> Option<&Arc<Node>> {
        self.children.get(key)
    }

    /// Returns the children in the order of their keys.
    pub(crate) fn children(&self) -> impl Iterator<Item = (&Value, &Arc<Node>)> {
        self.children.iter()
    }

    /// Whether the node has no children.
    pub(crate) fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// Returns the node at the end of a path.
    pub(crate) fn find(&self, path: &[Value]) -> Option<&Node> {
        let mut node = self;
        for step in path {
            node = node.child(step)?;
        }
        Some(node)
    }

    /// Returns the rules of this node and of all nodes below, in the order of the keys.
    pub(crate) fn extent(&self) -> Vec<&Arc<RuleSet>> {
        let mut found = Vec::new();
        self.walk(&mut |node| {
            found.extend(&node.rules);
            true
        });
        found
    }

    /// Visits this node, then those below in the order of their keys, while `show` returns true.
    pub(crate) fn walk<'n>(&'n self, show: &mut dyn FnMut(&'n Node) -> bool) {
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            if show(node) {
                let children: Vec<_> = node.children.values().map(Arc::as_ref).collect();
                open.extend(children.into_iter().rev());
            }
        }
    }

    /// Whether the node has no rules, modules or children.
    fn is_bare(&self) -> bool {
        self.rules.is_none() && self.modules.is_empty() && self.children.is_empty()
    }

    /// Changes the node at the end of a path, and copies only the nodes on the path. Nodes that are
    /// empty afterwards are removed.
    pub(crate) fn update(&mut self, path: &[Value], change: &mut dyn FnMut(&mut Node)) {
        let Some((first, rest)) = path.split_first() else {
            change(self);
            return;
        };
        change_child(&mut self.children, first, Self::is_bare, |child| {
            child.update(rest, change);
        });
    }

    /// Swaps the rules of the nodes at these paths with the given ones. The paths are sorted and
    /// unique, and no node becomes empty.
    pub(super) fn exchange(&mut self, sets: &mut [(&[Value], Option<Arc<RuleSet>>)]) {
        let are_siblings = |left: &[Value], right: &[Value]| left.first() == right.first();
        for siblings in sets.chunk_by_mut(|(left, _), (right, _)| are_siblings(left, right)) {
            let mut step = None;
            for (path, set) in &mut *siblings {
                match path.split_first() {
                    Some((first, rest)) => (step, *path) = (Some(first), rest),
                    None => std::mem::swap(&mut self.rules, set),
                }
            }
            if let Some(step) = step {
                change_child(&mut self.children, step, Self::is_bare, |child| {
                    child.exchange(siblings);
                });
            }
        }
    }

    /// Removes the rules of some modules from this node.
    pub(crate) fn take(&mut self, is_removed: &dyn Fn(&str) -> bool) {
        let all = self.rules.iter().flat_map(|set| set.all());
        let all = all
            .filter(|rule| !is_removed(&rule.module))
            .cloned()
            .collect();
        self.rules = RuleSet::new(all).map(Arc::new);
    }
}
