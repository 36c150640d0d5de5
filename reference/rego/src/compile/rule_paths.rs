//! Inserts the rules of modules into the rule tree: first their signatures, then their compiled
//! bodies.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::build::{Build, MAX_STEPS};
use super::graph::Dependency;
use super::module_set::{ModuleRules, ModuleSet};
use super::policy::{CompiledModule, Policy};
use super::rule_tree::{CompiledRule, Node, RuleSet, SourceNames};
use super::{CompilationUnit, Diagnostics};
use crate::error::{Code, LanguageError};
use crate::hash::HashMap;
use crate::parallel;
use crate::syntax::terms::{Path, rule_reference};

/// Version of the most recent policy.
static LAST_VERSION: AtomicU64 = AtomicU64::new(0);

/// Rules with their paths in the rule tree.
type RulesByPath = Vec<(Path, Arc<CompiledRule>)>;

impl Build {
    /// Inserts all rules into the rule tree, without their syntax trees.
    pub(super) fn insert_rules(&mut self) -> Diagnostics {
        let inserted = parallel::each(&mut self.units, |unit| inserted(unit));
        let mut found = Diagnostics::new();
        let mut placed = RulesByPath::new();
        for (unit, (rules, mut errors)) in self.units.iter().zip(inserted) {
            found.append(&mut errors);
            if let Some(rules) = rules {
                let all = rules.iter().map(|(_, rule)| rule.clone()).collect();
                let all = Arc::new(ModuleRules::new(all));
                self.module_set.inserted.insert(unit.id.clone(), all);
                placed.extend(rules);
            }
        }
        let changed = put(&mut self.module_set.root, placed);
        // Sorting and merging once is faster than repeated insertion.
        self.changed.append(&mut changed.into_iter().collect());
        found
    }

    /// Stores the compiled syntax trees in the rules of the rule tree, and returns the policy.
    pub(super) fn finish(self) -> Policy {
        let mut module_set = self.module_set;
        let mut units: Vec<_> = self.units.into_iter().map(Some).collect();
        let finished = parallel::each(&mut units, |unit| {
            let unit = unit.take()?;
            let order = self.orders.get(&unit.id).copied().unwrap_or_default();
            Some(finished(unit, order, &module_set))
        });
        let mut placed = RulesByPath::new();
        for (module, rules) in finished.into_iter().flatten() {
            placed.extend(rules);
            module_set.labelled += usize::from(module.outline.has_labels());
            module_set.modules.insert_mut(module.id.clone(), module);
        }
        module_set.inserted = HashMap::default();
        put(&mut module_set.root, placed);
        module_set.version = LAST_VERSION.fetch_add(1, Ordering::Relaxed) + 1;
        Policy {
            module_set: Arc::new(module_set),
        }
    }
}

/// Returns the rules of a unit in source order, and the errors of their paths; no rules if the path
/// of its package is too long.
fn inserted(unit: &CompilationUnit) -> (Option<RulesByPath>, Diagnostics) {
    let package = &unit.module.package;
    if package.path.len() > MAX_STEPS {
        let message = "the path of the package has too many steps";
        let error = LanguageError::at(Code::Compile, &package.location, message);
        return (None, vec![error]);
    }
    let mut found = Diagnostics::new();
    let mut all = RulesByPath::with_capacity(unit.module.rules.len());
    for (position, rule) in unit.module.rules.iter().enumerate() {
        let reference = rule_reference(&unit.module, rule);
        // Rules of one name are usually adjacent.
        let same = all.last().map(|(_, before)| &before.reference);
        let same = same.filter(|before| ***before == *reference).cloned();
        let reference = same.unwrap_or_else(|| reference.into_iter().collect());
        let inserted = CompiledRule::new(unit, position, rule, reference);
        let path: Path = inserted.path().collect();
        if path.len() > MAX_STEPS {
            let message = "the reference of the rule has too many steps";
            found.push(LanguageError::at(Code::Compile, &rule.location, message));
            continue;
        }
        all.push((path, Arc::new(inserted)));
    }
    (Some(all), found)
}

/// Returns a finished unit, and the rules whose entries in the rule tree must be replaced.
fn finished(
    mut unit: CompilationUnit,
    order: u64,
    module_set: &ModuleSet,
) -> (Arc<CompiledModule>, RulesByPath) {
    let trees = std::mem::take(&mut unit.module.rules);
    let written: SourceNames = Arc::new(std::mem::take(&mut unit.written).into_iter().collect());
    let mut reads = BTreeSet::new();
    let inserted = module_set
        .inserted
        .get(&unit.id)
        .cloned()
        .unwrap_or_default();
    let mut placed = RulesByPath::new();
    for (tree, known) in trees.into_iter().zip(&inserted.all) {
        reads.extend(known.reads().iter().flatten().flat_map(Dependency::paths));
        if known.is_ground() {
            known.finish(tree, written.clone());
            continue;
        }
        // Variables of its reference were renamed.
        let reference = rule_reference(&unit.module, &tree).into_iter().collect();
        let mut rule = CompiledRule::new(&unit, known.position, &tree, reference);
        rule.reads = known.reads.clone();
        rule.finish(tree, written.clone());
        placed.push((rule.path().collect(), Arc::new(rule)));
    }
    let rules = if placed.is_empty() {
        inserted
    } else {
        let mut all = inserted.all.clone();
        for (_, rule) in &placed {
            if let Some(known) = all.get_mut(rule.position) {
                *known = rule.clone();
            }
        }
        Arc::new(ModuleRules::new(all))
    };
    let module = CompiledModule {
        id: unit.id,
        order,
        original: unit.original,
        frame: unit.module,
        rules,
        outline: unit.outline,
        reads: reads.into_iter().collect(),
    };
    (Arc::new(module), placed)
}

/// Inserts rules into the rule tree. Finished rules replace unfinished ones. Returns the paths.
fn put(root: &mut Node, mut placed: RulesByPath) -> Vec<Path> {
    placed.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut places: Vec<(Path, Vec<Arc<CompiledRule>>)> = Vec::new();
    for (path, rule) in placed {
        match places.last_mut() {
            Some((last, rules)) if *last == path => rules.push(rule),
            _ => places.push((path, vec![rule])),
        }
    }
    let before = &*root;
    let sets = parallel::each(&mut places, |(path, rules)| {
        let rules = std::mem::take(rules);
        let old = before.find(path).and_then(|node| node.rules.as_deref());
        RuleSet::with(old, rules).map(Arc::new)
    });
    let places: Vec<Path> = places.into_iter().map(|(path, _)| path).collect();
    let mut sets: Vec<_> = places.iter().map(Vec::as_slice).zip(sets).collect();
    root.exchange(&mut sets);
    drop_all(sets.into_iter().map(|(_, old)| old));
    places
}

/// Drops large structures in parallel.
fn drop_all<T: Send>(all: impl Iterator<Item = T>) {
    let mut all: Vec<_> = all.map(Some).collect();
    parallel::each(&mut all, |one| drop(one.take()));
}
