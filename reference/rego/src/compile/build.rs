//! One run of the compiler: from the policy that is there and the changes to the next policy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::graph::Dependency;
use super::policy::{CompiledModule, Policy};
use super::terms::{Path, data_path, data_prefix, rule_reference};
use super::tree::{CompiledRule, Node, Outline, Written, ground_steps};
use super::world::{ModuleRules, World};
use super::{Found, ModuleStage, STAGES, Step, Unit};
use crate::Value;
use crate::error::{Code, Errors, LanguageError};
use crate::hash::HashMap;
use crate::parallel;
use crate::syntax::{Body, ExprTerms, Head, Module, Rule, Term, TermValue};

/// A run ends with this many mistakes.
pub(super) const MAX_ERRORS: usize = 10;

/// A rule or a package may be this many steps below `data`.
const MAX_STEPS: usize = 256;

/// The version of the policy that was made last.
static LAST_VERSION: AtomicU64 = AtomicU64::new(0);

/// Rules by their packages, then by their places in those.
type Places = BTreeMap<Path, BTreeMap<Path, Vec<Arc<CompiledRule>>>>;

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
    ///
    /// # Errors
    /// Those of a module that the changes concern and that cannot be read again.
    pub(super) fn new(
        base: &Policy,
        changes: BTreeMap<Arc<str>, Option<Box<Module>>>,
        documents: Option<Value>,
    ) -> Result<Self, Errors> {
        let mut world = World::clone(&base.world);
        let mut changed = Vec::new();
        let mut packages = BTreeSet::new();
        let mut above = BTreeSet::new();
        for (id, module) in &changes {
            let old = world.modules.get(id);
            for rule in old.iter().flat_map(|old| &old.rules.all) {
                changed.push(rule.path().collect::<Path>());
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

        let changed: BTreeSet<Path> = changed.into_iter().collect();
        let mut again: BTreeMap<Arc<str>, Box<Module>> = BTreeMap::new();
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
            if changes.contains_key(&id) {
                continue;
            }
            if let Some(module) = world.modules.get(&id) {
                again.insert(id, Box::new(module.parsed()?));
            }
        }
        let mut orders = HashMap::default();
        for (id, module) in changes {
            match module {
                Some(module) => again.insert(id, module),
                None => {
                    uproot(&mut world, &id);
                    None
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
                given: module
                    .text
                    .is_empty()
                    .then(|| Arc::new(Module::clone(&module))),
                module: *module,
                id,
                outline,
                written: Vec::new(),
                next_local: 0,
            });
        }
        Ok(Self {
            world,
            units,
            documents,
            changed,
            orders,
        })
    }

    /// Runs the stages, and puts the policy together if none of them finds a mistake.
    pub(super) fn run(mut self) -> Result<Policy, Errors> {
        let mut found = Found::new();
        for step in STAGES {
            match step {
                Step::Modules(stages) => self.run_modules(stages, &mut found)?,
                Step::All(run) => {
                    let more = run(&mut self);
                    let stops = !more.is_empty();
                    go_on(&mut found, more, stops)?;
                }
                Step::Lenient(run) => {
                    let more = run(&mut self);
                    go_on(&mut found, more, false)?;
                }
            }
        }
        if found.is_empty() {
            Ok(self.finish())
        } else {
            Err(limited(found))
        }
    }

    /// Runs stages that look at one module each. Modules go through them side by side, but what is
    /// found counts as if each stage had looked at all modules before the next began.
    fn run_modules(&mut self, stages: &[ModuleStage], found: &mut Found) -> Result<(), Errors> {
        let world = &self.world;
        let mut outcomes = parallel::each(&mut self.units, |unit| {
            let mut outcomes = Vec::new();
            for (stage, run) in stages.iter().enumerate() {
                let (found, stops) = run.run(unit, world);
                if stops || !found.is_empty() {
                    outcomes.push((stage, found, stops));
                }
                if stops {
                    break;
                }
            }
            outcomes
        });
        outcomes.retain(|outcomes| !outcomes.is_empty());
        for stage in 0..stages.len() {
            let (mut more, mut stops) = (Found::new(), false);
            for (of, found, is_last) in outcomes.iter_mut().flatten() {
                if *of == stage {
                    more.append(found);
                    stops |= *is_last;
                }
            }
            go_on(found, more, stops)?;
        }
        Ok(())
    }

    /// Puts the heads of all rules in their places.
    pub(super) fn plant(&mut self) -> Found {
        let mut found = Found::new();
        let mut places = Places::new();
        let mut changed = Vec::new();
        for unit in &self.units {
            let package = &unit.module.package;
            if package.path.len() > MAX_STEPS {
                let message = "the path of the package has too many steps";
                found.push(LanguageError::at(Code::Compile, &package.location, message));
                continue;
            }
            let mut all = Vec::with_capacity(unit.module.rules.len());
            let below = places.entry(data_path(&package.path).unwrap_or_default());
            let below = below.or_default();
            for (position, rule) in unit.module.rules.iter().enumerate() {
                let reference = rule_reference(&unit.module, rule).into();
                let head = head_only(rule);
                let mut planted = compiled(unit, position, reference, head, is_constant(rule));
                planted.is_planted = true;
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
                let place = below.entry(planted.path_in_package().collect());
                place.or_default().push(planted.clone());
                all.push(planted);
                changed.push(path);
            }
            let all = Arc::new(ModuleRules::new(all));
            self.world.planted.insert(unit.id.clone(), all);
        }
        change_places(&mut self.world.root, &places, &|node, rules| {
            node.add(rules.to_vec());
        });
        // Sorted and merged at once, which is faster than one by one.
        self.changed.append(&mut changed.into_iter().collect());
        found
    }

    /// Puts the finished rules in the places of their heads.
    fn finish(self) -> Policy {
        let mut world = self.world;
        let mut places = Places::new();
        for mut unit in self.units {
            let rules = std::mem::take(&mut unit.module.rules);
            let written: Written =
                Arc::new(std::mem::take(&mut unit.written).into_iter().collect());
            let mut reads = BTreeSet::new();
            let planted = world.planted.remove(&unit.id).unwrap_or_default();
            let mut planted = planted.all.iter();
            let mut finished = Vec::with_capacity(rules.len());
            let package = data_path(&unit.module.package.path).unwrap_or_default();
            let below = places.entry(package).or_default();
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
                let place = below.entry(rule.path_in_package().collect());
                place.or_default().push(rule.clone());
                finished.push(rule);
            }
            world.labelled += usize::from(unit.outline.has_labels());
            let order = self.orders.get(&unit.id).copied().unwrap_or_default();
            let module = CompiledModule {
                id: unit.id.clone(),
                order,
                given: unit.given,
                frame: unit.module,
                rules: Arc::new(ModuleRules::new(finished)),
                outline: unit.outline,
                reads: reads.into_iter().collect(),
            };
            world.modules.insert_mut(unit.id, Arc::new(module));
        }
        change_places(&mut world.root, &places, &|node, rules| {
            node.finish(rules);
        });
        world.version = LAST_VERSION.fetch_add(1, Ordering::Relaxed) + 1;
        Policy {
            world: Arc::new(world),
        }
    }
}

/// Changes the places of rules.
fn change_places(
    root: &mut Node,
    places: &Places,
    change: &dyn Fn(&mut Node, &[Arc<CompiledRule>]),
) {
    for (package, below) in places {
        root.update(package, &mut |node| {
            for (path, rules) in below {
                node.update(path, &mut |node| change(node, rules));
            }
        });
    }
}

/// Adds what a stage found.
///
/// # Errors
/// All that was found, if this was the last stage.
fn go_on(found: &mut Found, mut more: Found, stops: bool) -> Result<(), Errors> {
    found.append(&mut more);
    if stops || found.len() >= MAX_ERRORS {
        return Err(limited(std::mem::take(found)));
    }
    Ok(())
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
                _ => super::terms::constant(value).is_some(),
            })
}
