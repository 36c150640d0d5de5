//! One run of the compiler: from the policy that is there and the changes to the next policy.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::graph::Dependency;
use super::policy::{CompiledModule, Policy};
use super::terms::{Path, data_path, data_prefix, rule_reference};
use super::tree::{CompiledRule, Outline, Written, ground_steps};
use super::world::{ModuleRules, World};
use super::{Found, STAGES, Step, Unit};
use crate::Value;
use crate::error::{Code, Errors, LanguageError};
use crate::syntax::{Body, ExprTerms, Head, Module, Rule, TermValue};

/// A run ends with this many mistakes.
pub(super) const MAX_ERRORS: usize = 10;

/// A rule or a package may be this many steps below `data`.
const MAX_STEPS: usize = 256;

/// The version of the policy that was made last.
static LAST_VERSION: AtomicU64 = AtomicU64::new(0);

/// The state of a run.
#[derive(Debug)]
pub(super) struct Build {
    /// All modules that are not compiled again, and from some stage on the heads of the others.
    pub(super) world: World,
    /// The modules that are compiled, in the order of their ids.
    pub(super) units: Vec<Unit>,
    /// The base documents that rules must not stand in for.
    pub(super) documents: Option<Value>,
    /// The places whose rules have changed, those that are empty now among them.
    pub(super) changed: BTreeSet<Path>,
    /// The places of the units in the order in which modules came.
    orders: HashMap<Arc<str>, u64>,
}

impl Build {
    /// Finds what the changes concern.
    pub(super) fn new(
        base: &Policy,
        changes: BTreeMap<Arc<str>, Option<Arc<Module>>>,
        documents: Option<Value>,
    ) -> Self {
        let mut world = World::clone(&base.world);
        let mut changed = BTreeSet::new();
        let mut packages = BTreeSet::new();
        let mut above = BTreeSet::new();
        for (id, module) in &changes {
            let old = world.modules.get(id);
            for rule in old.iter().flat_map(|old| &old.rules.all) {
                changed.insert(rule.path().collect::<Path>());
            }
            if let Some(module) = module {
                for rule in &module.rules {
                    changed.extend(data_prefix(&rule_reference(module, rule)));
                }
            }
            let noted = old.iter().flat_map(|old| &old.outline.annotations);
            let noted = noted.chain(module.iter().flat_map(|module| &module.annotations));
            let reaches_below = noted
                .into_iter()
                .any(|block| *block.scope == *"subpackages");
            let new = module.iter().map(|module| module.package.path.as_slice());
            let old = old.iter().map(|old| old.outline.package.as_slice());
            let paths: Vec<Path> = new.chain(old).filter_map(data_path).collect();
            if reaches_below {
                above.extend(paths.iter().cloned());
            }
            packages.extend(paths);
        }

        let mut again: BTreeMap<Arc<str>, Arc<Module>> = BTreeMap::new();
        let mut concerned = BTreeSet::new();
        for path in &changed {
            world.readers.overlapping(path, &mut concerned);
        }
        for path in &packages {
            let node = world.find(path);
            let modules = node.iter().flat_map(|node| &node.modules);
            concerned.extend(modules.map(|module| module.id.clone()));
        }
        for path in &above {
            // What is said about subpackages can be read by all modules below.
            if let Some(node) = world.find(path) {
                node.walk(&mut |node| {
                    concerned.extend(node.modules.iter().map(|module| module.id.clone()));
                    true
                });
            }
        }
        for id in concerned {
            if let Some(module) = world.modules.get(&id) {
                again.insert(id, module.parsed.clone());
            }
        }
        let mut orders = HashMap::new();
        for (id, module) in changes {
            match module {
                Some(module) => again.insert(id, module),
                None => {
                    uproot(&mut world, &id);
                    again.remove(&id)
                }
            };
        }
        for id in again.keys() {
            let order = uproot(&mut world, id);
            let next = world.next;
            orders.insert(id.clone(), order.unwrap_or(next));
            if order.is_none() {
                world.next = next.saturating_add(1);
            }
        }

        let mut units = Vec::new();
        for (id, module) in again {
            let outline = Arc::new(outline(&id, &module));
            // Longer paths are refused before anyone looks there.
            let path = data_path(&module.package.path).filter(|path| path.len() < MAX_STEPS);
            if let Some(path) = path {
                world.root.update(&path, &mut |node| {
                    let at = node.modules.partition_point(|other| other.id < id);
                    node.modules.insert(at, outline.clone());
                });
            }
            units.push(Unit {
                module: Module::clone(&module),
                parsed: module,
                id,
                outline,
                written: Vec::new(),
                next_local: 0,
            });
        }
        Self {
            world,
            units,
            documents,
            changed,
            orders,
        }
    }

    /// Runs the stages, and puts the policy together if none of them finds a mistake.
    pub(super) fn run(mut self) -> Result<Policy, Errors> {
        let mut found = Found::new();
        for step in STAGES {
            // What a strict stage finds keeps the next from running.
            let mut strict = Found::new();
            let mut stops = false;
            match step {
                Step::Module(run) => {
                    for unit in &mut self.units {
                        strict.extend(run(unit, &self.world));
                    }
                }
                Step::MixedModule(run) => {
                    for unit in &mut self.units {
                        let (more, is_wrong) = run(unit, &self.world);
                        found.extend(more);
                        stops |= is_wrong;
                    }
                }
                Step::LenientModule(run) => {
                    for unit in &mut self.units {
                        found.extend(run(unit, &self.world));
                    }
                }
                Step::All(run) => strict.extend(run(&mut self)),
                Step::Lenient(run) => found.extend(run(&mut self)),
            }
            let is_last = stops || !strict.is_empty() || found.len() >= MAX_ERRORS;
            found.append(&mut strict);
            if is_last {
                return Err(limited(found));
            }
        }
        if found.is_empty() {
            Ok(self.finish())
        } else {
            Err(limited(found))
        }
    }

    /// Puts the heads of all rules in their places.
    pub(super) fn plant(&mut self) -> Found {
        let mut found = Found::new();
        let mut places: BTreeMap<Path, Vec<_>> = BTreeMap::new();
        for unit in &self.units {
            let package = &unit.module.package;
            if package.path.len() > MAX_STEPS {
                let message = "the path of the package has too many steps";
                found.push(LanguageError::at(Code::Compile, &package.location, message));
                continue;
            }
            let mut all = Vec::with_capacity(unit.module.rules.len());
            for (position, rule) in unit.module.rules.iter().enumerate() {
                let planted = compiled(unit, position, head_only(rule), is_constant(rule));
                let path: Path = planted.path().collect();
                if path.len() > MAX_STEPS {
                    found.push(LanguageError::at(
                        Code::Compile,
                        &rule.location,
                        "the reference of the rule has too many steps",
                    ));
                    continue;
                }
                let planted = Arc::new(planted);
                places.entry(path).or_default().push(planted.clone());
                all.push(planted);
            }
            let all = Arc::new(ModuleRules::new(all));
            self.world.planted.insert(unit.id.clone(), all);
        }
        for (path, rules) in places {
            let root = &mut self.world.root;
            root.update(&path, &mut |node| node.add(rules.clone()));
            self.changed.insert(path);
        }
        found
    }

    /// Puts the finished rules in the places of their heads.
    fn finish(self) -> Policy {
        let mut world = self.world;
        let mut places: BTreeMap<Path, Vec<_>> = BTreeMap::new();
        let units: HashSet<_> = self.units.iter().map(|unit| unit.id.clone()).collect();
        for mut unit in self.units {
            let rules = std::mem::take(&mut unit.module.rules);
            let written: Written =
                Arc::new(std::mem::take(&mut unit.written).into_iter().collect());
            let mut reads = BTreeSet::new();
            let planted = world.planted.remove(&unit.id).unwrap_or_default();
            let mut planted = planted.all.iter();
            let mut finished = Vec::with_capacity(rules.len());
            for (position, rule) in rules.into_iter().enumerate() {
                let is_constant = is_constant(&rule);
                let mut rule = compiled(&unit, position, rule, is_constant);
                rule.written = written.clone();
                if let Some(known) = planted.next() {
                    rule.reads = known.reads.clone();
                }
                reads.extend(rule.reads().iter().flatten().flat_map(Dependency::paths));
                let rule = Arc::new(rule);
                let place = places.entry(rule.path().collect()).or_default();
                place.push(rule.clone());
                finished.push(rule);
            }
            world.labelled += usize::from(unit.outline.has_labels());
            let order = self.orders.get(&unit.id).copied().unwrap_or_default();
            let module = CompiledModule {
                id: unit.id.clone(),
                order,
                parsed: unit.parsed,
                frame: unit.module,
                rules: Arc::new(ModuleRules::new(finished)),
                outline: unit.outline,
                reads: reads.into_iter().collect(),
            };
            world.modules.insert_mut(unit.id, Arc::new(module));
        }
        for (path, rules) in places {
            world.root.update(&path, &mut |node| {
                node.take(&|module| units.contains(module));
                node.add(rules.clone());
            });
        }
        world.version = LAST_VERSION.fetch_add(1, Ordering::Relaxed) + 1;
        Policy {
            world: Arc::new(world),
        }
    }
}

/// Sorts mistakes by their places and ends the list where it gets too long.
pub(super) fn limited(mut found: Found) -> Errors {
    let reached = found.len() >= MAX_ERRORS;
    found.truncate(MAX_ERRORS);
    found.sort_by_cached_key(|error| {
        let place = error.location.as_ref();
        let place = place.map(|place| (place.file.clone(), place.row, place.col));
        (place.is_none(), place, error.to_string())
    });
    if reached {
        found.push(limit_reached());
    }
    Errors(found)
}

/// What stands behind the last mistake that is listed.
pub(super) fn limit_reached() -> LanguageError {
    LanguageError {
        code: Code::Compile,
        message: "error limit reached".to_owned(),
        location: None,
        details: None,
    }
}

/// Takes a module out of the world; its place in the order is the answer.
fn uproot(world: &mut World, id: &str) -> Option<u64> {
    let module = world.modules.get(id)?.clone();
    world.modules.remove_mut(id);
    let labelled = usize::from(module.outline.has_labels());
    world.labelled = world.labelled.saturating_sub(labelled);
    for path in &module.reads {
        world.readers.remove(path, id);
    }
    let paths: BTreeSet<Path> = module
        .rules
        .all
        .iter()
        .map(|rule| rule.path().collect())
        .collect();
    for path in &paths {
        world
            .root
            .update(path, &mut |node| node.take(&|module| module == id));
    }
    if let Some(path) = data_path(&module.outline.package) {
        world.root.update(&path, &mut |node| {
            node.modules.retain(|module| *module.id != *id)
        });
    }
    Some(module.order)
}

fn outline(id: &Arc<str>, module: &Module) -> Outline {
    let names = module
        .rules
        .iter()
        .filter_map(|rule| rule.head.reference.first());
    Outline {
        id: id.clone(),
        package: module.package.path.clone(),
        exports: names.filter_map(super::terms::as_var).cloned().collect(),
        annotations: module.annotations.clone(),
    }
}

/// What the compiler knows of a rule of a unit.
fn compiled(unit: &Unit, position: usize, rule: Rule, is_constant: bool) -> CompiledRule {
    let reference = rule_reference(&unit.module, &rule);
    CompiledRule {
        ground: ground_steps(&reference),
        reference,
        ast: Arc::new(rule),
        module: unit.id.clone(),
        position,
        package: unit.module.package.path.len(),
        is_constant,
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
                _ => super::terms::constant(value).is_some(),
            })
}
