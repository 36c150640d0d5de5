//! Detects recursive rules.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Diagnostics;
use super::build::Build;
use super::reachable_rules::{ReachableRules, Vertex};
use super::recursion_cause;
use super::rule_tree::CompiledRule;
use crate::Value;
use crate::error::{Code, LanguageError};
use crate::hash::HashMap;
use crate::parallel;

/// Reports recursive rules among the new rules and all rules on a path back to them.
pub(super) fn run(build: &mut Build) -> Diagnostics {
    let build = &*build;
    let mut reached = ReachableRules::new(build);
    let units = &reached.units;
    let mut changed: Vec<_> = build.changed.iter().collect();
    let starts = parallel::each(&mut changed, |path| starts_at(build, units, path));
    let starts = starts.into_iter().flatten();
    let starts = starts.map(|(rule, depth)| (reached.number(rule), depth));
    let starts: Vec<Vertex> = starts.collect();
    let cyclic = reached.vertices_on_cycles(&starts);
    let mut ordered: Vec<_> = cyclic.iter().copied().collect();
    ordered.sort_by_cached_key(|(number, depth)| {
        let rule = reached.rules.get(*number);
        let path: Vec<_> = rule.iter().flat_map(|rule| rule.path()).collect();
        let place = rule.map(|rule| (rule.module.clone(), rule.position));
        (path, place, *depth)
    });
    let limited = ordered.into_iter().take(super::build::MAX_ERRORS);
    limited
        .filter_map(|vertex| reached.error(vertex, &cyclic))
        .collect()
}

/// Returns the rules of the units at a path, and their `else` branches, that may be on a cycle.
fn starts_at<'b>(
    build: &'b Build,
    units: &HashMap<&str, usize>,
    path: &[Value],
) -> Vec<(&'b Arc<CompiledRule>, usize)> {
    let rules = build
        .module_set
        .find(path)
        .and_then(|node| node.rules.as_ref());
    let mut starts = Vec::new();
    for rule in rules.iter().flat_map(|rules| rules.all()) {
        if !units.contains_key(&*rule.module) {
            continue;
        }
        for (depth, reads) in rule.reads().iter().enumerate() {
            let mut targets = Vec::new();
            for dependency in reads {
                dependency.rules(&build.module_set, &mut targets);
            }
            // A rule that refers only to rules without references is not on a cycle.
            if targets.iter().any(|target| target.reads_any()) {
                starts.push((rule, depth));
            }
        }
    }
    starts
}

impl ReachableRules<'_> {
    fn error(&mut self, vertex: Vertex, cyclic: &BTreeSet<Vertex>) -> Option<LanguageError> {
        let certain =
            |reached: &Self, from, to| recursion_cause::variable(reached, from, to).is_none();
        let (path, verb, cause) = match self.find_cycle(vertex, cyclic, &certain) {
            Some(path) => (path, "is", String::new()),
            None => {
                let path = self.find_cycle(vertex, cyclic, &|_, _, _| true)?;
                let cause = recursion_cause::explain(self, &path);
                (path, "may be", cause)
            }
        };
        let names: Vec<_> = path
            .iter()
            .filter_map(|vertex| self.name(*vertex))
            .collect();
        let name = names.first()?;
        let message = format!(
            "rule {name} {verb} recursive: {}{cause}",
            names.join(" -> ")
        );
        let rule = self.rules.get(vertex.0)?;
        let location = self.location(rule, vertex.1)?;
        Some(LanguageError::at(Code::Recursion, &location, message))
    }

    /// Returns the location of a rule or of one of its `else` branches.
    fn location(&self, rule: &CompiledRule, depth: usize) -> Option<crate::syntax::Location> {
        let ast = self.build.tree(rule);
        let mut chain = std::iter::successors(Some(ast), |rule| rule.else_rule.as_deref());
        chain.nth(depth).map(|rule| rule.location.clone())
    }
}
