//! Rules that are reachable from the units, and cycles among them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::build::Build;
use super::graph::Dependency;
use super::rule_tree::CompiledRule;
use crate::hash::{HashMap, HashSet};
use crate::syntax::Var;
use crate::syntax::terms::shown;

/// A rule or an `else` branch: the rule's number and the index of the branch.
pub(super) type Vertex = (usize, usize);

/// Rules that are reachable from the units, and the graph of their references.
#[derive(Debug)]
pub(super) struct ReachableRules<'b> {
    pub(super) build: &'b Build,
    numbers: HashMap<*const CompiledRule, usize>,
    pub(super) rules: Vec<&'b Arc<CompiledRule>>,
    edges: HashMap<Vertex, Arc<[Vertex]>>,
    /// Indices of the units by module id.
    pub(super) units: HashMap<&'b str, usize>,
}

impl<'b> ReachableRules<'b> {
    pub(super) fn new(build: &'b Build) -> Self {
        let units = build.units.iter().enumerate();
        Self {
            build,
            numbers: HashMap::default(),
            rules: Vec::new(),
            edges: HashMap::default(),
            units: units.map(|(at, unit)| (&*unit.id, at)).collect(),
        }
    }

    pub(super) fn number(&mut self, rule: &'b Arc<CompiledRule>) -> usize {
        let next = self.rules.len();
        let number = *self.numbers.entry(Arc::as_ptr(rule)).or_insert(next);
        if number == next {
            self.rules.push(rule);
        }
        number
    }

    /// Returns the references of a rule and of its `else` branches.
    pub(super) fn chain(&self, number: usize) -> &'b [Vec<Dependency>] {
        let rule: Option<&&'b Arc<CompiledRule>> = self.rules.get(number);
        rule.map_or(&[], |rule| rule.reads())
    }

    pub(super) fn depth(&self, number: usize) -> usize {
        self.chain(number).len()
    }

    pub(super) fn dependencies(&self, vertex: Vertex) -> &'b [Dependency] {
        self.chain(vertex.0)
            .get(vertex.1)
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the successors of a vertex, in source order.
    pub(super) fn edges(&mut self, vertex: Vertex) -> Arc<[Vertex]> {
        if let Some(edges) = self.edges.get(&vertex) {
            return edges.clone();
        }
        let mut targets = Vec::new();
        for dependency in self.dependencies(vertex) {
            dependency.rules(&self.build.module_set, &mut targets);
        }
        let mut seen = HashSet::default();
        let mut edges = Vec::new();
        for target in targets {
            let number = self.number(target);
            if seen.insert(number) {
                edges.extend((0..self.depth(number).max(1)).map(|depth| (number, depth)));
            }
        }
        let edges: Arc<[Vertex]> = edges.into();
        self.edges.insert(vertex, edges.clone());
        edges
    }

    /// Returns the vertices on cycles: those of a strongly connected component of more than one,
    /// and those with an edge to themselves. Iterative, because chains of rules can be long.
    pub(super) fn vertices_on_cycles(&mut self, starts: &[Vertex]) -> BTreeSet<Vertex> {
        let mut order: HashMap<Vertex, (usize, usize)> = HashMap::default();
        let mut open: Vec<Vertex> = Vec::new();
        let mut is_open = HashSet::default();
        let mut cyclic = BTreeSet::new();
        for start in starts {
            if order.contains_key(start) {
                continue;
            }
            let mut path = vec![(*start, 0)];
            order.insert(*start, (order.len(), order.len()));
            open.push(*start);
            is_open.insert(*start);
            while let Some((vertex, next)) = path.last_mut() {
                let vertex = *vertex;
                let edges = self.edges(vertex);
                if let Some(target) = edges.get(*next) {
                    *next += 1;
                    if *target == vertex {
                        cyclic.insert(vertex);
                    }
                    let count = order.len();
                    match order.get(target).copied() {
                        None => {
                            order.insert(*target, (count, count));
                            open.push(*target);
                            is_open.insert(*target);
                            path.push((*target, 0));
                        }
                        Some((number, _)) if is_open.contains(target) => {
                            if let Some((_, low)) = order.get_mut(&vertex) {
                                *low = (*low).min(number);
                            }
                        }
                        Some(_) => {}
                    }
                    continue;
                }
                path.pop();
                let (number, low) = order.get(&vertex).copied().unwrap_or_default();
                if let Some((parent, _)) = path.last()
                    && let Some((_, parent_low)) = order.get_mut(parent)
                {
                    *parent_low = (*parent_low).min(low);
                }
                if number == low {
                    let at = open
                        .iter()
                        .rposition(|other| *other == vertex)
                        .unwrap_or_default();
                    let component = open.split_off(at);
                    for member in &component {
                        is_open.remove(member);
                    }
                    if component.len() > 1 {
                        cyclic.extend(component);
                    }
                }
            }
        }
        cyclic
    }

    /// Finds a path from a vertex back to itself, over allowed edges between the vertices `within`.
    pub(super) fn find_cycle(
        &mut self,
        from: Vertex,
        within: &BTreeSet<Vertex>,
        allowed: &dyn Fn(&Self, Vertex, Vertex) -> bool,
    ) -> Option<Vec<Vertex>> {
        let mut seen = HashSet::from_iter([from]);
        let mut path = vec![(from, 0)];
        while let Some((vertex, next)) = path.last_mut() {
            let vertex = *vertex;
            let edges = self.edges(vertex);
            // A direct edge back is preferred.
            if *next == 0 && edges.contains(&from) && allowed(self, vertex, from) {
                let mut cycle: Vec<_> = path.iter().map(|(vertex, _)| *vertex).collect();
                cycle.push(from);
                return Some(cycle);
            }
            match edges.get(*next) {
                Some(target) => {
                    *next += 1;
                    let is_allowed = within.contains(target) && allowed(self, vertex, *target);
                    if is_allowed && seen.insert(*target) {
                        path.push((*target, 0));
                    }
                }
                None => {
                    path.pop();
                }
            }
        }
        None
    }

    /// Returns the source name of a variable of a rule.
    pub(super) fn written(&self, rule: &CompiledRule, var: &Var) -> Option<Var> {
        match self
            .units
            .get(&*rule.module)
            .and_then(|at| self.build.units.get(*at))
        {
            Some(unit) => {
                let mut names = unit.written.iter();
                names
                    .find(|(generated, _)| generated == var)
                    .map(|(_, written)| written.clone())
            }
            None => rule.written().get(var).cloned(),
        }
    }

    /// Returns the reference of a rule, with the source names of its variables.
    pub(super) fn name(&self, vertex: Vertex) -> Option<String> {
        let rule = self.rules.get(vertex.0)?;
        Some(shown(&rule.reference, &|var| self.written(rule, var)))
    }
}
