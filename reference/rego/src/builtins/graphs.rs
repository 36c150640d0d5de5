//! `graph.*` and `walk`.

use super::expected::{Answer, Items};
use super::operand::{answer, any, mistyped, object, refuse};
use super::{Call, Failure, Group};
use crate::Value;
use crate::value::{Object, Set};

pub(super) const BUILTINS: Group = &[
    ("graph.reachable", reachable),
    ("graph.reachable_paths", reachable_paths),
    ("walk", walk),
];

/// Paths and nodes may come to so many values.
const MAX_RESULT: usize = 20_000_000;

fn start(operands: &[Value]) -> Result<Items<'_>, Failure> {
    let value = any(operands, 2);
    Items::of(value).ok_or_else(|| mistyped(2, "{array, set}", value))
}

fn neighbours<'v>(graph: &'v Object, node: &Value) -> Option<Vec<&'v Value>> {
    let edges = graph.get_value(node)?;
    Some(Items::of(edges).map_or_else(Vec::new, Iterator::collect))
}

fn reachable(call: &mut Call<'_>, operands: &[Value]) -> Answer {
    let graph = object(operands, 1)?;
    let mut open: Vec<&Value> = start(operands)?.collect();
    let mut reached = Set::new();
    while let Some(node) = open.pop() {
        call.check()?;
        if reached.contains(node) {
            continue;
        }
        if let Some(edges) = neighbours(graph, node) {
            reached.insert(node.clone());
            open.extend(edges.into_iter().filter(|node| !reached.contains(node)));
        }
    }
    answer(reached)
}

/// One node of the path that is being followed, and where to go from there.
struct Step<'v> {
    node: &'v Value,
    edges: std::vec::IntoIter<&'v Value>,
}

fn reachable_paths(call: &mut Call<'_>, operands: &[Value]) -> Answer {
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
            // The start itself is not yet passed.
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

/// Every value in a document with the path to it, the document first, as pairs.
fn walk(call: &mut Call<'_>, operands: &[Value]) -> Answer {
    let mut pairs = Vec::new();
    let mut size = 0usize;
    let mut open = vec![(Vec::new(), any(operands, 1))];
    while let Some((path, value)) = open.pop() {
        if pairs.len() % 1024 == 0 {
            call.check()?;
        }
        size += path.len() + 1;
        if size > MAX_RESULT {
            return refuse("the document has too many values");
        }
        let below = |key: &Value| {
            let mut longer = Vec::with_capacity(path.len() + 1);
            longer.extend_from_slice(&path);
            longer.push(key.clone());
            longer
        };
        // What is put on top last comes next.
        let first = open.len();
        match value {
            Value::Array(items) => {
                let keyed = items.iter().enumerate();
                open.extend(keyed.map(|(at, item)| (below(&Value::from(at)), item)));
            }
            Value::Object(members) => {
                open.extend(members.iter().map(|(key, value)| (below(key), value)));
            }
            Value::Set(members) => {
                open.extend(members.iter().map(|member| (below(member), member)));
            }
            _ => {}
        }
        if let Some(added) = open.get_mut(first..) {
            added.reverse();
        }
        pairs.push(Value::from(vec![Value::from(path), value.clone()]));
    }
    answer(pairs)
}
