//! Renders templates.

use super::NAME;
use super::functions::NOTHING;
use super::item::{Item, TemplateValue};
use super::node::{Branches, Fallible, Invocation, Node, Pipeline, Templates};
use crate::Value;
use crate::builtins::strings::bound;
use crate::builtins::{Call, Failure};
use crate::value::quoted_bytes;

/// Maximum depth of template invocations.
pub(super) const MAX_DEPTH: usize = 10_000;

/// Memory of an invocation, in values.
const INVOCATION: usize = 16;

/// Control flow after a list of nodes.
#[derive(PartialEq)]
enum Flow {
    On,
    Break,
    Continue,
}

pub(super) struct Renderer<'r, 'c, 't> {
    pub(super) call: &'r Call<'c>,
    text: &'t str,
    templates: &'t Templates,
    /// Name of the current template.
    name: &'t [u8],
    depth: usize,
    /// Current node.
    pub(super) place: Fallible<'t>,
    pub(super) variables: Vec<(&'t str, Item)>,
    out: Vec<u8>,
}

/// Renders a template.
pub(super) fn rendered(
    call: &Call<'_>,
    text: &str,
    templates: &Templates,
    data: &Value,
) -> Result<Vec<u8>, Failure> {
    let data = Item::of(data).unboxed();
    let mut renderer = Renderer {
        call,
        text,
        templates,
        name: NAME.as_bytes(),
        depth: 0,
        place: Fallible::Nowhere,
        variables: vec![("$", data.clone())],
        out: Vec::new(),
    };
    if let Some(nodes) = templates.get(NAME.as_bytes()) {
        renderer.nodes(nodes, &data)?;
    }
    call.make(renderer.out.len() / 16)?;
    Ok(replaced(&renderer.out))
}

/// Replaces the output for missing values by `<undefined>`.
fn replaced(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        match rest.strip_prefix(NOTHING.as_bytes()) {
            Some(tail) => {
                out.extend_from_slice(b"<undefined>");
                rest = tail;
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

impl<'t> Renderer<'_, '_, 't> {
    /// Creates a failure at the current node.
    pub(super) fn fail<T>(&self, message: impl AsRef<str>) -> Result<T, Failure> {
        let at = self.place.at();
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = at - before.rfind('\n').map_or(0, |newline| newline + 1);
        let (name, place, message) = (quoted_bytes(self.name), self.place, message.as_ref());
        Err(Failure::Value(format!(
            "template: {NAME}:{line}:{column}: executing {name} at <{place}>: {message}"
        )))
    }

    fn nodes(&mut self, nodes: &'t [Node], dot: &Item) -> Result<Flow, Failure> {
        for node in nodes {
            self.call.check()?;
            bound(self.out.len())?;
            let flow = stacker::maybe_grow(64 << 10, 1 << 20, || self.node(node, dot))?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn node(&mut self, node: &'t Node, dot: &Item) -> Result<Flow, Failure> {
        match node {
            Node::Text(text) => self.out.extend_from_slice(text.as_bytes()),
            Node::Output(pipeline) => {
                let item = self.pipeline(pipeline, dot)?;
                if pipeline.variables.is_empty() {
                    self.show(&item)?;
                }
            }
            Node::If(branches) => return self.branches(branches, false, dot),
            Node::With(branches) => return self.branches(branches, true, dot),
            Node::Range(pipeline, body, otherwise) => {
                return self.range(pipeline, body, otherwise, dot);
            }
            Node::Template(invocation) => self.invoke(invocation, dot)?,
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }

    fn show(&mut self, item: &Item) -> Result<(), Failure> {
        match item.content {
            TemplateValue::Absent => self.out.extend_from_slice(NOTHING.as_bytes()),
            _ => item.print(self.call, &mut self.out)?,
        }
        Ok(())
    }

    fn branches(
        &mut self,
        branches: &'t Branches,
        is_with: bool,
        dot: &Item,
    ) -> Result<Flow, Failure> {
        let known = self.variables.len();
        let mut flow = None;
        for (condition, body) in &branches.conditions {
            let item = self.pipeline(condition, dot)?;
            if item.is_true() {
                let dot = if is_with { &item } else { dot };
                flow = Some(self.nodes(body, dot)?);
                break;
            }
        }
        let flow = match flow {
            Some(flow) => flow,
            None => self.nodes(&branches.otherwise, dot)?,
        };
        self.variables.truncate(known);
        Ok(flow)
    }

    fn range(
        &mut self,
        pipeline: &'t Pipeline,
        body: &'t [Node],
        otherwise: &'t [Node],
        dot: &Item,
    ) -> Result<Flow, Failure> {
        let known = self.variables.len();
        let over = self.pipeline(pipeline, dot)?;
        let mut is_empty = true;
        let mut round = |renderer: &mut Self, key: Item, item: Item| {
            is_empty = false;
            renderer.round(pipeline, body, key, item)
        };
        match &over.content {
            TemplateValue::List(items, _) => {
                for (at, item) in (0..).zip(items.iter()) {
                    if round(self, Item::integer(at), Item::of(item))? {
                        break;
                    }
                }
            }
            TemplateValue::Map(members) => {
                for (key, item) in members.iter() {
                    if round(self, Item::of(key).unboxed(), Item::of(item))? {
                        break;
                    }
                }
            }
            TemplateValue::Integer(end, kind) => {
                if pipeline.variables.len() > 1 {
                    return self.fail(format!(
                        "can't use {end} to iterate over more than one variable"
                    ));
                }
                for at in 0..*end {
                    let item = Item::from_value(TemplateValue::Integer(at, kind));
                    if round(self, item.clone(), item)? {
                        break;
                    }
                }
            }
            TemplateValue::Absent => {}
            _ => {
                let formatted = over.format(self.call, 'v')?;
                return self.fail(format!("range can't iterate over {formatted}"));
            }
        }
        let mut flow = Flow::On;
        if is_empty {
            flow = self.nodes(otherwise, dot)?;
        }
        self.variables.truncate(known);
        Ok(flow)
    }

    /// Runs one iteration of a loop. Returns whether it is the last one.
    fn round(
        &mut self,
        pipeline: &'t Pipeline,
        body: &'t [Node],
        key: Item,
        item: Item,
    ) -> Result<bool, Failure> {
        self.call.check()?;
        let variables = pipeline.variables.as_slice();
        let values = match variables.len() {
            0 | 1 => [Some(item.clone()), None],
            _ => [Some(key), Some(item.clone())],
        };
        // The variables of the pipeline are on top of the stack.
        let first = self.variables.len() - variables.len();
        for (at, (name, value)) in variables
            .iter()
            .zip(values.into_iter().flatten())
            .enumerate()
        {
            if !pipeline.declares {
                self.assign(name, value)?;
            } else if let Some((_, variable)) = self.variables.get_mut(first + at) {
                *variable = value;
            }
        }
        let known = self.variables.len();
        let flow = self.nodes(body, &item)?;
        self.variables.truncate(known);
        Ok(flow == Flow::Break)
    }

    /// Renders another template, which does not see the variables of this one.
    fn invoke(&mut self, invocation: &'t Invocation, dot: &Item) -> Result<(), Failure> {
        self.place = Fallible::Invocation(invocation);
        let Some((name, nodes)) = self.templates.get_key_value(&invocation.name) else {
            let name = quoted_bytes(&invocation.name);
            return self.fail(format!("template {name} not defined"));
        };
        if self.depth == MAX_DEPTH {
            return self.fail(format!("exceeded maximum template depth ({MAX_DEPTH})"));
        }
        self.call.make(INVOCATION)?;
        let dot = match &invocation.with {
            Some(pipeline) => self.pipeline(pipeline, dot)?,
            None => Item::ABSENT,
        };
        let variables = std::mem::replace(&mut self.variables, vec![("$", dot.clone())]);
        let caller = std::mem::replace(&mut self.name, name);
        self.depth += 1;
        self.nodes(nodes, &dot)?;
        self.depth -= 1;
        self.name = caller;
        self.variables = variables;
        Ok(())
    }
}
