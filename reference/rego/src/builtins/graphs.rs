//! `graph.*`

use std::collections::VecDeque;
use std::ptr;

use super::expected::{CallResult, Items};
use super::operand::{answer, any, mistyped, object, refuse};
use super::{BuiltinLimit, Call, Cost, Failure, Group, Maximum};
use crate::Value;
use crate::hash::HashSet;
use crate::value::{Object, Set};

pub(super) const BUILTINS: Group = &[
    ("graph.reachable", Cost::Stepping, reachable),
    ("graph.reachable_paths", Cost::Stepping, reachable_paths),
];

/// Maximum total number of nodes in all paths.
const MAX_RESULT: usize = 20_000_000;

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["graph.reachable_paths"],
    subject: "nodes of all paths together",
    most: Maximum::Count(MAX_RESULT),
}];

fn start(operands: &[Value]) -> Result<Items<'_>, Failure> {
    let value = any(operands, 2);
    Items::of(value).ok_or_else(|| mistyped(2, "{array, set}", value))
}

fn neighbours<'v>(graph: &'v Object, node: &Value) -> Option<Vec<&'v Value>> {
    let edges = graph.get_value(node)?;
    Some(Items::of(edges).map_or_else(Vec::new, Iterator::collect))
}

fn reachable(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let graph = object(operands, 1)?;
    let mut reachable_nodes = Vec::new();
    // Nodes are identified by the address of their edges, so names are only compared in lookups.
    let mut seen = HashSet::default();
    let mut open = VecDeque::new();
    let mut nodes = start(operands)?;
    loop {
        for node in nodes {
            call.check()?;
            if let Some(edges) = graph.get_value(node)
                && seen.insert(ptr::from_ref(edges))
            {
                reachable_nodes.push((ptr::from_ref(edges), node.clone()));
                open.extend(Items::of(edges));
            }
        }
        match open.pop_front() {
            Some(edges) => nodes = edges,
            None => break,
        }
    }
    // Addresses mostly follow the order of names, and a set is built quickly from sorted items.
    reachable_nodes.sort_unstable_by_key(|(edges, _)| *edges);
    answer(
        reachable_nodes
            .into_iter()
            .map(|(_, node)| node)
            .collect::<Set>(),
    )
}

/// Node of the current path and its remaining edges.
struct Step<'v> {
    node: &'v Value,
    edges: std::vec::IntoIter<&'v Value>,
}

fn reachable_paths(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let graph = object(operands, 1)?;
    let mut found = Paths::default();
    for root in start(operands)? {
        let Some(edges) = neighbours(graph, root) else {
            continue;
        };
        if edges.is_empty() {
            found.add(&[], Some(root))?;
            continue;
        }
        let edges = edges.into_iter();
        let mut path = vec![Step { node: root, edges }];
        while let Some(step) = path.last_mut() {
            call.check()?;
            let Some(next) = step.edges.next() else {
                path.pop();
                continue;
            };
            // The root alone does not count as visited.
            if path.len() > 1 && path.iter().any(|step| step.node == next) {
                found.add(&path, None)?;
                continue;
            }
            match neighbours(graph, next) {
                None => found.add(&path, None)?,
                Some(edges) if edges.is_empty() => found.add(&path, Some(next))?,
                Some(edges) => path.push(Step {
                    node: next,
                    edges: edges.into_iter(),
                }),
            }
        }
    }
    answer(found.all)
}

#[derive(Default)]
struct Paths {
    all: Set,
    size: usize,
}

impl Paths {
    fn add(&mut self, path: &[Step<'_>], last: Option<&Value>) -> Result<(), Failure> {
        let nodes = path.iter().map(|step| step.node).chain(last);
        let nodes: Vec<Value> = nodes.cloned().collect();
        self.size += nodes.len();
        if self.size > MAX_RESULT {
            return refuse("there are too many paths");
        }
        self.all.insert(Value::from(nodes));
        Ok(())
    }
}
