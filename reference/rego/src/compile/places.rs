//! The rules of the units at their places: their heads while they are compiled, then themselves.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::build::{Build, MAX_STEPS};
use super::graph::Dependency;
use super::policy::{CompiledModule, Policy};
use super::terms::{Path, constant, rule_reference};
use super::tree::{CompiledRule, Node, RuleSet, Written, ground_steps};
use super::world::{ModuleRules, World};
use super::{Found, Unit};
use crate::error::{Code, LanguageError};
use crate::parallel;
use crate::syntax::{Body, ExprTerms, Head, Rule, Term, TermValue};

/// The version of the policy that was made last.
static LAST_VERSION: AtomicU64 = AtomicU64::new(0);

/// Rules with their places.
type Placed = Vec<(Path, Arc<CompiledRule>)>;

impl Build {
    /// Puts the heads of all rules in their places.
    pub(super) fn plant(&mut self) -> Found {
        let heads = parallel::each(&mut self.units, |unit| heads(unit));
        let mut found = Found::new();
        let mut placed = Placed::new();
        for (unit, (heads, mut mistakes)) in self.units.iter().zip(heads) {
            found.append(&mut mistakes);
            if let Some(heads) = heads {
                let all = heads.iter().map(|(_, head)| head.clone()).collect();
                let all = Arc::new(ModuleRules::new(all));
                self.world.planted.insert(unit.id.clone(), all);
                placed.extend(heads);
            }
        }
        let changed = put(&mut self.world.root, placed);
        // Sorted and merged at once, which is faster than one by one.
        self.changed.append(&mut changed.into_iter().collect());
        found
    }

    /// Puts the finished rules in the places of their heads.
    pub(super) fn finish(self) -> Policy {
        let mut world = self.world;
        let mut units: Vec<_> = self.units.into_iter().map(Some).collect();
        let finished = parallel::each(&mut units, |unit| Some(finished(unit.take()?, &world)));
        let mut placed = Placed::new();
        for (mut module, rules) in finished.into_iter().flatten() {
            placed.extend(rules);
            world.labelled += usize::from(module.outline.has_labels());
            module.order = self.orders.get(&module.id).copied().unwrap_or_default();
            world
                .modules
                .insert_mut(module.id.clone(), Arc::new(module));
        }
        let planted = std::mem::take(&mut world.planted);
        put(&mut world.root, placed);
        drop_all(planted.into_values());
        world.version = LAST_VERSION.fetch_add(1, Ordering::Relaxed) + 1;
        Policy {
            world: Arc::new(world),
        }
    }
}

/// The heads of the rules of a unit, in the order of the text, and the mistakes in where they
/// stand; no heads if its package cannot be.
fn heads(unit: &Unit) -> (Option<Placed>, Found) {
    let package = &unit.module.package;
    if package.path.len() > MAX_STEPS {
        let message = "the path of the package has too many steps";
        let error = LanguageError::at(Code::Compile, &package.location, message);
        return (None, vec![error]);
    }
    let mut found = Found::new();
    let mut all = Placed::with_capacity(unit.module.rules.len());
    for (position, rule) in unit.module.rules.iter().enumerate() {
        let reference = rule_reference(&unit.module, rule).into();
        let head = head_only(rule);
        let mut planted = compiled(unit, position, reference, head, is_constant(rule));
        planted.is_planted = true;
        let path: Path = planted.path().collect();
        if path.len() > MAX_STEPS {
            let message = "the reference of the rule has too many steps";
            found.push(LanguageError::at(Code::Compile, &rule.location, message));
            continue;
        }
        all.push((path, Arc::new(planted)));
    }
    (Some(all), found)
}

/// A unit that went through all stages, and its rules. Its place in the order is not known here.
fn finished(mut unit: Unit, world: &World) -> (CompiledModule, Placed) {
    let rules = std::mem::take(&mut unit.module.rules);
    let written: Written = Arc::new(std::mem::take(&mut unit.written).into_iter().collect());
    let mut reads = BTreeSet::new();
    let planted = world.planted.get(&unit.id);
    let mut planted = planted.iter().flat_map(|rules| &rules.all);
    let mut all = Vec::with_capacity(rules.len());
    let mut placed = Placed::with_capacity(rules.len());
    for (position, rule) in rules.into_iter().enumerate() {
        let is_constant = is_constant(&rule);
        let known = planted.next();
        // Without variables it is as it was when the head was planted.
        let reference = known.filter(|known| known.is_ground());
        let reference = match reference {
            Some(known) => known.reference.clone(),
            None => rule_reference(&unit.module, &rule).into(),
        };
        let mut rule = compiled(&unit, position, reference, rule, is_constant);
        rule.written = written.clone();
        if let Some(known) = known {
            rule.reads = known.reads.clone();
        }
        reads.extend(rule.reads().iter().flatten().flat_map(Dependency::paths));
        let rule = Arc::new(rule);
        placed.push((rule.path().collect(), rule.clone()));
        all.push(rule);
    }
    let module = CompiledModule {
        id: unit.id,
        order: 0,
        given: unit.given,
        frame: unit.module,
        rules: Arc::new(ModuleRules::new(all)),
        outline: unit.outline,
        reads: reads.into_iter().collect(),
    };
    (module, placed)
}

/// Puts rules to those that are at their places; planted heads there make way for finished rules.
/// The places are the answer.
fn put(root: &mut Node, mut placed: Placed) -> Vec<Path> {
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

/// Lets go of things that hold much.
fn drop_all<T: Send>(all: impl Iterator<Item = T>) {
    let mut all: Vec<_> = all.map(Some).collect();
    parallel::each(&mut all, |one| drop(one.take()));
}

/// What the compiler knows of a rule of a unit.
fn compiled(
    unit: &Unit,
    position: usize,
    reference: Arc<[Term]>,
    rule: Rule,
    is_constant: bool,
) -> CompiledRule {
    CompiledRule {
        ground: ground_steps(&reference),
        reference,
        ast: Arc::new(rule),
        module: unit.id.clone(),
        position,
        package: unit.module.package.path.len(),
        is_constant,
        is_planted: false,
        written: Written::default(),
        reads: OnceLock::new(),
        lowered: OnceLock::new(),
    }
}

fn head_only(rule: &Rule) -> Rule {
    Rule {
        default: rule.default,
        head: Head::clone(&rule.head),
        body: Body::new(),
        else_rule: None,
        annotations: rule.annotations.clone(),
        location: rule.location.clone(),
    }
}

/// Whether a rule has a value without references or calls, and no body but the generated one.
fn is_constant(rule: &Rule) -> bool {
    let is_true = match rule.body.as_slice() {
        [only] if !only.negated && only.with.is_empty() => {
            matches!(&only.terms, ExprTerms::Term(term) if term.value == TermValue::Bool(true))
        }
        _ => false,
    };
    is_true
        && rule
            .head
            .value
            .as_ref()
            .is_some_and(|value| match value.value {
                TermValue::Var(_) => true,
                _ => constant(value).is_some(),
            })
}
