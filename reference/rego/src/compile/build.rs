//! One run of the compiler: from a policy and its changes to the next policy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::module_set::ModuleSet;
use super::policy::{CompiledModule, Policy};
use super::rule_tree::{CompiledRule, ModuleInterface};
use super::{CompilationUnit, Diagnostics, ModuleStage, STAGES, Step};
use crate::Value;
use crate::error::{Code, Errors, LanguageError};
use crate::hash::HashMap;
use crate::parallel;
use crate::syntax::terms::{Path, data_path, data_prefix, rule_reference};
use crate::syntax::{Module, Rule};

/// Number of errors after which a run stops.
pub(super) const MAX_ERRORS: usize = 10;

/// Maximum number of steps from `data` to a rule or a package.
pub(super) const MAX_STEPS: usize = 256;

/// State of one run of the compiler.
#[derive(Debug)]
pub(super) struct Build {
    /// All modules that are not recompiled, and from some stage on the rules of the units.
    pub(super) module_set: ModuleSet,
    /// Modules that are compiled, in the order of their ids.
    pub(super) units: Vec<CompilationUnit>,
    /// Base documents that rules must not conflict with.
    pub(super) documents: Option<Value>,
    /// Paths whose rules have changed, including those that are empty now.
    pub(super) changed: BTreeSet<Path>,
    /// Positions of the units, by module id, in the order in which modules were added.
    pub(super) orders: HashMap<Arc<str>, u64>,
}

/// Paths and packages that a change affects directly.
struct AffectedPaths {
    /// Paths of the rules that are added or removed.
    places: Vec<Path>,
    packages: Vec<Path>,
    /// Whether annotations with the scope `subpackages` are affected.
    reaches_below: bool,
}

impl AffectedPaths {
    /// Returns what is affected if one module replaces another.
    fn of_change(old: Option<&CompiledModule>, new: Option<&Module>) -> Self {
        let of_old = old.iter().flat_map(|old| &old.rules.all);
        let mut places: Vec<Path> = of_old.map(|rule| rule.path().collect()).collect();
        if let Some(module) = new {
            let rules = module.rules.iter();
            places.extend(rules.filter_map(|rule| data_prefix(&rule_reference(module, rule))));
        }
        let noted = old.iter().flat_map(|old| &old.outline.annotations);
        let mut noted = noted.chain(new.iter().flat_map(|module| &module.annotations));
        let reaches_below = noted.any(|block| *block.scope == *"subpackages");
        let new = new.iter().map(|module| module.package.path.as_slice());
        let old = old.iter().map(|old| old.outline.package.as_slice());
        Self {
            places,
            packages: new.chain(old).filter_map(data_path).collect(),
            reaches_below,
        }
    }
}

impl Build {
    /// Starts a run: determines the modules that the changes affect.
    ///
    /// # Errors
    /// Parse errors of an affected module that cannot be parsed again.
    pub(super) fn new(
        base: &Policy,
        changes: BTreeMap<Arc<str>, Option<Box<Module>>>,
        documents: Option<Value>,
    ) -> Result<Self, Errors> {
        let mut module_set = ModuleSet::clone(&base.module_set);
        let mut touching: Vec<_> = changes.iter().collect();
        let modules = &module_set.modules;
        let touched = parallel::each(&mut touching, |(id, module)| {
            AffectedPaths::of_change(modules.get(*id).map(Arc::as_ref), module.as_deref())
        });
        let mut changed = Vec::new();
        let mut packages = Vec::new();
        let mut above = BTreeSet::new();
        for mut touched in touched {
            changed.append(&mut touched.places);
            if touched.reaches_below {
                above.extend(touched.packages.iter().cloned());
            }
            packages.append(&mut touched.packages);
        }

        // Sorting once is faster than repeated insertion.
        let changed: BTreeSet<Path> = changed.into_iter().collect();
        let packages: BTreeSet<Path> = packages.into_iter().collect();
        let mut again: BTreeMap<Arc<str>, Box<Module>> = BTreeMap::new();
        let mut concerned = BTreeSet::new();
        for path in &changed {
            module_set.readers.overlapping(path, &mut concerned);
        }
        for path in &packages {
            let node = module_set.find(path);
            let modules = node.iter().flat_map(|node| &node.modules);
            concerned.extend(modules.map(|module| module.id.clone()));
        }
        for path in &above {
            // All modules below can read annotations with the scope `subpackages`.
            if let Some(node) = module_set.find(path) {
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
            if let Some(module) = module_set.modules.get(&id) {
                again.insert(id, Box::new(module.parsed()?));
            }
        }
        let mut orders = HashMap::default();
        for (id, module) in changes {
            match module {
                Some(module) => again.insert(id, module),
                None => {
                    remove_module(&mut module_set, &id);
                    None
                }
            };
        }
        for id in again.keys() {
            let order = remove_module(&mut module_set, id);
            let next = module_set.next;
            orders.insert(id.clone(), order.unwrap_or(next));
            if order.is_none() {
                module_set.next = next.saturating_add(1);
            }
        }

        let mut units = Vec::with_capacity(again.len());
        for (id, module) in again {
            let outline = Arc::new(outline(&id, &module));
            // Longer paths are rejected before any lookup.
            let path = data_path(&module.package.path).filter(|path| path.len() < MAX_STEPS);
            if let Some(path) = path {
                module_set.root.update(&path, &mut |node| {
                    let at = node.modules.partition_point(|other| other.id < id);
                    node.modules.insert(at, outline.clone());
                });
            }
            units.push(CompilationUnit {
                original: module
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
            module_set,
            units,
            documents,
            changed,
            orders,
        })
    }

    /// Returns the current syntax tree of a rule.
    pub(super) fn tree<'r>(&'r self, rule: &'r CompiledRule) -> &'r Rule {
        let at = self
            .units
            .binary_search_by(|unit| unit.id.cmp(&rule.module));
        let unit = at.ok().and_then(|at| self.units.get(at));
        let tree = unit.and_then(|unit| unit.module.rules.get(rule.position));
        tree.unwrap_or_else(|| rule.ast())
    }

    /// Runs the stages, and assembles the policy if none of them reports an error.
    pub(super) fn run(mut self) -> Result<Policy, Errors> {
        let mut found = Diagnostics::new();
        for step in STAGES {
            match step {
                Step::Modules(stages) => self.run_modules(stages, &mut found)?,
                Step::All(run) => {
                    let more = run(&mut self);
                    let stops = !more.is_empty();
                    append_errors(&mut found, more, stops)?;
                }
                Step::Lenient(run) => {
                    let more = run(&mut self);
                    append_errors(&mut found, more, false)?;
                }
            }
        }
        if found.is_empty() {
            Ok(self.finish())
        } else {
            Err(limited(found))
        }
    }

    /// Runs stages that process one module each. Modules pass through them in parallel, but errors
    /// count as if each stage had processed all modules before the next began.
    fn run_modules(
        &mut self,
        stages: &[ModuleStage],
        found: &mut Diagnostics,
    ) -> Result<(), Errors> {
        let module_set = &self.module_set;
        let mut outcomes = parallel::each(&mut self.units, |unit| {
            let mut outcomes = Vec::new();
            for (stage, run) in stages.iter().enumerate() {
                let (found, stops) = run.run(unit, module_set);
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
            let (mut more, mut stops) = (Diagnostics::new(), false);
            for (of, found, is_last) in outcomes.iter_mut().flatten() {
                if *of == stage {
                    more.append(found);
                    stops |= *is_last;
                }
            }
            append_errors(found, more, stops)?;
        }
        Ok(())
    }
}

/// Appends the errors of a stage; returns all errors if there are any and the stage `stops`.
///
/// # Errors
/// All errors, if this was the last stage to run.
fn append_errors(
    found: &mut Diagnostics,
    mut more: Diagnostics,
    stops: bool,
) -> Result<(), Errors> {
    found.append(&mut more);
    if stops || found.len() >= MAX_ERRORS {
        return Err(limited(std::mem::take(found)));
    }
    Ok(())
}

/// Sorts errors by their locations and truncates the list.
pub(super) fn limited(mut found: Diagnostics) -> Errors {
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

/// Returns the error that ends a truncated list of errors.
pub(super) fn limit_reached() -> LanguageError {
    LanguageError {
        code: Code::Compile,
        message: "error limit reached".to_owned(),
        location: None,
        details: None,
    }
}

/// Removes a module from the module set; returns its position in the order of addition.
fn remove_module(module_set: &mut ModuleSet, id: &str) -> Option<u64> {
    let module = module_set.modules.get(id)?.clone();
    module_set.modules.remove_mut(id);
    let labelled = usize::from(module.outline.has_labels());
    module_set.labelled = module_set.labelled.saturating_sub(labelled);
    for path in &module.reads {
        module_set.readers.remove(path, id);
    }
    let paths: BTreeSet<Path> = module
        .rules
        .all
        .iter()
        .map(|rule| rule.path().collect())
        .collect();
    for path in &paths {
        module_set
            .root
            .update(path, &mut |node| node.take(&|module| module == id));
    }
    if let Some(path) = data_path(&module.outline.package) {
        module_set.root.update(&path, &mut |node| {
            node.modules.retain(|module| *module.id != *id)
        });
    }
    Some(module.order)
}

fn outline(id: &Arc<str>, module: &Module) -> ModuleInterface {
    let names = module
        .rules
        .iter()
        .filter_map(|rule| rule.head.reference.first());
    ModuleInterface {
        id: id.clone(),
        package: module.package.path.clone(),
        exports: names
            .filter_map(crate::syntax::terms::as_var)
            .cloned()
            .collect(),
        annotations: module.annotations.clone(),
    }
}
