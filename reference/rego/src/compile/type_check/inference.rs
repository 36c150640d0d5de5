//! Type inference of rules, dependencies first.

use std::collections::{BTreeMap, BTreeSet};

use super::environment::TypeNode;
use super::pass::Rules;
use super::topological::{self, InferredType};
use crate::compile::Diagnostics;
use crate::compile::build::Build;
use crate::compile::rule_tree::SourceNames;
use crate::parallel;
use crate::syntax::terms::Path;

/// Infers the types of the changed rules, then of those that depend on them.
pub(in crate::compile) fn run(build: &mut Build) -> Diagnostics {
    let written = parallel::each(&mut build.units, |unit| {
        SourceNames::new(unit.written.iter().cloned().collect())
    });
    let mut types = TypeNode::clone(&build.module_set.types);
    let mut errors: BTreeMap<Path, Diagnostics> = BTreeMap::new();
    let mut round = std::mem::take(&mut build.changed);
    let rules = Rules::new(build, written);
    // The first round contains all rules that are compiled now, ordered by dependency.
    let has_others = !build.module_set.modules.is_empty();
    // Every round follows the dependencies one step further, and there are no cycles.
    while !round.is_empty() {
        let mut next = BTreeSet::new();
        let ordered = rules.ordered(&round);
        let mut known = match has_others || types.has_children() {
            true => Vec::new(),
            false => match topological::find(&rules, &ordered) {
                InferredType::All(all) => {
                    types = all;
                    break;
                }
                InferredType::Some(known) => known,
            },
        };
        let order = ordered.order.iter().copied().enumerate();
        let positions = order.clone().filter(|_| has_others);
        let positions =
            positions.filter_map(|(position, number)| Some((ordered.path(number)?, position)));
        let positions: BTreeMap<_, _> = positions.collect();
        for (position, number) in order {
            let Some(path) = ordered.path(number) else {
                continue;
            };
            let value = |types: &TypeNode| types.find(path).and_then(|node| node.value().cloned());
            let before = has_others.then(|| value(&types));
            let known = known.get_mut(number).and_then(Option::take);
            let (of, found) =
                known.map_or_else(|| rules.check(path, &types), |of| (of, Diagnostics::new()));
            types.set(path, of);
            if found.is_empty() {
                errors.remove(path);
            } else {
                errors.insert(path.clone(), found);
            }
            if before.is_some_and(|before| before != value(&types)) {
                // Dependents that are still to come in this round need no further round.
                let mut dependents = build.module_set.dependents(path);
                dependents
                    .retain(|other| positions.get(other).is_none_or(|other| *other < position));
                next.extend(dependents);
            }
        }
        round = next;
    }
    let mut found: Diagnostics = errors.into_values().flatten().collect();
    found.sort_by_cached_key(|error| {
        let place = error.location.as_ref();
        (
            place.map(|place| (place.file.clone(), place.row, place.col)),
            error.to_string(),
        )
    });
    build.module_set.types = types;
    found
}
