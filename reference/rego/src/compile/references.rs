//! Reverse dependencies: the modules and rules that refer to a path below `data`, to find those
//! that a change affects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use super::graph::Dependency;
use super::persistent_tree::change_child;
use super::rule_tree::CompiledRule;
use crate::Value;
use crate::syntax::terms::Path;

/// Maximum number of recorded steps of a reference; further steps are ignored.
const MAX_STEPS: usize = 16;

/// Node of the reverse dependencies: the modules that read a path below `data`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readers {
    modules: RedBlackTreeSetSync<Arc<str>>,
    children: RedBlackTreeMapSync<Value, Arc<Readers>>,
}

impl Readers {
    /// Records that a module reads the document at this path, or an unnamed one below it.
    pub(crate) fn add(&mut self, path: &[Value], module: &Arc<str>) {
        self.change(path.get(..MAX_STEPS).unwrap_or(path), &|node| {
            if !node.modules.contains(module) {
                node.modules.insert_mut(module.clone());
            }
        });
    }

    /// Removes the record that a module reads this path.
    pub(crate) fn remove(&mut self, path: &[Value], module: &str) {
        self.change(path.get(..MAX_STEPS).unwrap_or(path), &|node| {
            node.modules.remove_mut(module);
        });
    }

    fn change(&mut self, path: &[Value], change: &dyn Fn(&mut Self)) {
        let Some((first, rest)) = path.split_first() else {
            change(self);
            return;
        };
        change_child(&mut self.children, first, Self::is_bare, |child| {
            child.change(rest, change);
        });
    }

    /// Whether no module reads the path of this node or one below it.
    fn is_bare(&self) -> bool {
        self.modules.is_empty() && self.children.is_empty()
    }

    /// Adds the modules that read this path, an ancestor that contains it, or a descendant.
    pub(crate) fn overlapping(&self, path: &[Value], found: &mut BTreeSet<Arc<str>>) {
        let mut node = self;
        for step in path {
            found.extend(node.modules.iter().cloned());
            match node.children.get(step) {
                Some(child) => node = child,
                None => return,
            }
        }
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            found.extend(node.modules.iter().cloned());
            open.extend(node.children.values().map(Arc::as_ref));
        }
    }
}

/// Node of a tree by path below `data`: the positions of the rules of one module that read the
/// path.
#[derive(Debug, Default)]
pub(super) struct Reading {
    rules: Vec<usize>,
    children: BTreeMap<Value, Reading>,
}

impl Reading {
    /// Builds the tree of the paths that the rules of a module read.
    pub(super) fn of(rules: &[Arc<CompiledRule>]) -> Self {
        let mut root = Self::default();
        for (position, rule) in rules.iter().enumerate() {
            let paths = rule.reads().iter().flatten().flat_map(Dependency::paths);
            for path in paths.collect::<BTreeSet<Path>>() {
                let mut node = &mut root;
                for step in path.into_iter().take(MAX_STEPS) {
                    node = node.children.entry(step).or_default();
                }
                node.rules.push(position);
            }
        }
        root
    }

    /// Adds the rules that read this path, an ancestor that contains it, or a descendant.
    pub(super) fn overlapping(&self, path: &[Value], found: &mut BTreeSet<usize>) {
        let mut node = self;
        for step in path {
            found.extend(&node.rules);
            match node.children.get(step) {
                Some(child) => node = child,
                None => return,
            }
        }
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            found.extend(&node.rules);
            open.extend(node.children.values());
        }
    }
}
