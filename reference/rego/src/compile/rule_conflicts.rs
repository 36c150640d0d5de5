//! Conflicts between rules: different kinds at one path, a rule below another, a package at the
//! path of a rule.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Diagnostics;
use super::build::Build;
use super::rule_tree::{CompiledRule, Node};
use crate::Value;
use crate::error::{Code, LanguageError};
use crate::parallel;
use crate::syntax::Var;
use crate::syntax::terms::{Path, data_path, shown};

/// Checks the changed paths and their ancestors, whose descendants have changed.
pub(super) fn run(build: &mut Build) -> Diagnostics {
    let build = &*build;
    let mut places = Vec::with_capacity(build.changed.len());
    let mut before: &[Value] = &[];
    for path in &build.changed {
        // Paths are sorted, so the preceding path has added the common ancestors.
        let common = path.iter().zip(before);
        let common = common.take_while(|(step, other)| step == other).count();
        let ends = common + 1..=path.len();
        places.extend(ends.filter_map(|end| path.get(..end)));
        before = path;
    }
    let conflicts = parallel::each(&mut places.clone(), |place| {
        let node = build.module_set.find(place)?;
        conflict(build, node)
    });
    let mut found: Diagnostics = conflicts.into_iter().flatten().collect();
    found.extend(super::base_conflicts::changed(build));
    found.extend(packages(build, &places));
    found
}

/// Returns the reference of a rule, with the source names of its variables.
fn name(build: &Build, rule: &CompiledRule) -> String {
    let unit = build.units.iter().find(|unit| *unit.id == *rule.module);
    let written = |var: &Var| match unit {
        Some(unit) => {
            let mut names = unit.written.iter();
            names
                .find(|(generated, _)| generated == var)
                .map(|(_, written)| written.clone())
        }
        None => rule.written().get(var).cloned(),
    };
    shown(&rule.reference, &written)
}

fn conflict(build: &Build, node: &Node) -> Option<LanguageError> {
    let rules = node.rules.as_ref()?.all();
    let first = *rules.first()?;
    let last = *rules.last()?;
    // The message names the rule that was checked last.
    let name_of = |rule| name(build, rule);
    let at = |message: String| LanguageError::at(Code::Type, &build.tree(first).location, message);

    let inside: Vec<&Arc<CompiledRule>> = if node.is_leaf() {
        Vec::new()
    } else if rules.iter().any(|rule| rule.is_ground()) {
        below(node, |_| true)
    } else {
        below(node, |rule| rule.is_function())
    };
    if !inside.is_empty() {
        let mut message = format!("rule {} conflicts with:", name_of(last));
        for rule in inside {
            let location = &build.tree(rule).location;
            let place = format!("{}:{}", location.file, location.row);
            message.push_str(&format!("\n  rule {} at {place}", name_of(rule)));
        }
        return Some(at(message));
    }

    let differs =
        |what: &dyn Fn(&CompiledRule) -> usize| rules.iter().any(|rule| what(rule) != what(first));
    let multi = |rule: &CompiledRule| usize::from(rule.is_multi_value());
    let arity = |rule: &CompiledRule| rule.arity;
    let complete = |rule: &CompiledRule| usize::from(!rule.is_multi_value() && rule.is_ground());
    let sets: Vec<_> = rules.iter().filter(|rule| rule.is_multi_value()).collect();
    let sets_differ =
        sets.iter().any(|rule| rule.is_ground()) && sets.iter().any(|rule| !rule.is_ground());
    if differs(&multi) || differs(&arity) || differs(&complete) || sets_differ {
        return Some(at(format!("conflicting rules {} found", name_of(last))));
    }

    let defaults: Vec<_> = rules.iter().filter(|rule| rule.is_default()).collect();
    if defaults.len() > 1 {
        let places = defaults.iter().map(|rule| {
            let location = &build.tree(rule).location;
            format!("{}:{}", location.file, location.row)
        });
        let places: Vec<_> = places.collect();
        let module = &defaults.first()?.module;
        let units = build
            .units
            .iter()
            .map(|unit| (&unit.id, &unit.module.package.location));
        let others = build
            .module_set
            .modules
            .get(module)
            .map(|other| (&other.id, &other.frame.package.location));
        let (_, location) = units.chain(others).find(|(id, _)| *id == module)?;
        return Some(LanguageError::at(
            Code::Type,
            location,
            format!(
                "multiple default rules {} found at {}",
                name_of(last),
                places.join(", ")
            ),
        ));
    }
    None
}

/// Returns the wanted rules below a node, without those that are inside of others, in the order of
/// their references.
fn below(node: &Node, is_requested: impl Fn(&CompiledRule) -> bool) -> Vec<&Arc<CompiledRule>> {
    let mut found: Vec<&Arc<CompiledRule>> = Vec::new();
    for (_, child) in node.children() {
        for rules in child.extent() {
            found.extend(rules.all().into_iter().filter(|rule| is_requested(rule)));
        }
    }
    // In sorted order, every reference directly follows its prefixes.
    found.sort_by(|left, right| left.reference.cmp(&right.reference));
    let mut outermost: Vec<&Arc<CompiledRule>> = Vec::new();
    for rule in found {
        let inside = outermost
            .last()
            .is_some_and(|last| rule.reference.starts_with(&last.reference));
        if !inside {
            outermost.push(rule);
        }
    }
    outermost
}

/// Reports packages at the path of a rule.
fn packages(build: &Build, changed: &[&[Value]]) -> Diagnostics {
    let mut found = Diagnostics::new();
    let both = |place: &[Value]| {
        let node = build.module_set.find(place);
        node.is_some_and(|node| !node.modules.is_empty() && node.rules.is_some())
    };
    let changed = changed.iter().filter(|place| both(place));
    let mut places: BTreeSet<Path> = changed.map(|place| place.to_vec()).collect();
    for unit in &build.units {
        places.extend(data_path(&unit.module.package.path).filter(|place| both(place)));
    }
    for place in &places {
        let Some(node) = build.module_set.find(place) else {
            continue;
        };
        for rule in node.rules.iter().flat_map(|rules| rules.all()) {
            if !rule.is_ground() {
                continue;
            }
            let unit = build.units.iter().find(|unit| *unit.id == *rule.module);
            let other = build.module_set.modules.get(&rule.module);
            let package = unit.map(|unit| &unit.module.package.location);
            let package = package.or_else(|| other.map(|other| &other.frame.package.location));
            let tree = build.tree(rule);
            let (head, location) = (tree.head.reference.as_slice(), &tree.location);
            for module in &node.modules {
                let (Some(package), true) = (package, *module.id != *rule.module) else {
                    continue;
                };
                found.push(LanguageError::at(
                    Code::Type,
                    package,
                    format!(
                        "package {} conflicts with rule {} defined at {}:{}",
                        shown(module.package.get(1..).unwrap_or_default(), &|_| None),
                        shown(head, &|_| None),
                        location.file,
                        location.row
                    ),
                ));
            }
        }
    }
    found
}
