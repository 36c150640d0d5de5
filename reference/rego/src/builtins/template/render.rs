//! Renders templates.

use super::functions::{Item, called};
use super::parse::{Node, Operand, Pipeline, Start};
use crate::Value;
use crate::builtins::operand::refuse;
use crate::builtins::strings::bound;
use crate::builtins::{Call, Failure};

/// How the rendering of a list of nodes ended.
#[derive(PartialEq)]
enum Flow {
    On,
    Break,
    Continue,
}

struct Renderer<'r, 'c> {
    call: &'r Call<'c>,
    variables: Vec<(String, Item)>,
    out: String,
}

/// The template with the values of its actions.
pub(super) fn rendered(call: &Call<'_>, nodes: &[Node], data: &Value) -> Result<String, Failure> {
    let data = Item::Value(Some(data.clone()));
    let mut renderer = Renderer {
        call,
        variables: vec![("$".to_owned(), data.clone())],
        out: String::new(),
    };
    renderer.nodes(nodes, &data)?;
    Ok(renderer.out.replace("<no value>", "<undefined>"))
}

impl Renderer<'_, '_> {
    fn nodes(&mut self, nodes: &[Node], dot: &Item) -> Result<Flow, Failure> {
        for node in nodes {
            self.call.check()?;
            bound(self.out.len())?;
            let known = self.variables.len();
            let flow = match node {
                Node::Text(text) => {
                    self.out.push_str(text);
                    Flow::On
                }
                Node::Output(pipeline) => {
                    let item = self.pipeline(pipeline, dot)?;
                    if pipeline.variables.is_empty() {
                        item.print(self.call, &mut self.out)?;
                    } else {
                        // What is declared here is known up to the end of the list.
                        continue;
                    }
                    Flow::On
                }
                Node::If(branches, otherwise) => self.branches(branches, otherwise, dot)?,
                Node::With(pipeline, body, otherwise) => {
                    let item = self.pipeline(pipeline, dot)?;
                    match item.is_true() {
                        true => self.nodes(body, &item)?,
                        false => self.nodes(otherwise, dot)?,
                    }
                }
                Node::Range(pipeline, body, otherwise) => {
                    self.range(pipeline, body, otherwise, dot)?
                }
                Node::Break => Flow::Break,
                Node::Continue => Flow::Continue,
            };
            if !matches!(node, Node::Output(_)) {
                self.variables.truncate(known);
            }
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn branches(
        &mut self,
        branches: &[(Pipeline, Vec<Node>)],
        otherwise: &[Node],
        dot: &Item,
    ) -> Result<Flow, Failure> {
        for (condition, body) in branches {
            if self.pipeline(condition, dot)?.is_true() {
                return self.nodes(body, dot);
            }
        }
        self.nodes(otherwise, dot)
    }

    fn range(
        &mut self,
        pipeline: &Pipeline,
        body: &[Node],
        otherwise: &[Node],
        dot: &Item,
    ) -> Result<Flow, Failure> {
        let over = self.commands(pipeline, dot)?;
        let entries: Vec<(Item, Item)> = match &over {
            Item::Value(Some(Value::Array(items))) => {
                let keyed = (0..).zip(items.iter());
                let item = |value: &Value| Item::Value(Some(value.clone()));
                keyed
                    .map(|(at, value)| (Item::Integer(at), item(value)))
                    .collect()
            }
            Item::Value(Some(Value::Object(members))) => {
                let item = |value: &Value| Item::Value(Some(value.clone()));
                let members = members.iter();
                members
                    .map(|(key, value)| (item(key), item(value)))
                    .collect()
            }
            Item::Value(None | Some(Value::Null)) => Vec::new(),
            other => {
                let shown = other.shown(self.call)?;
                return refuse(format!("template: range can't iterate over {shown}"));
            }
        };
        if entries.is_empty() {
            return self.nodes(otherwise, dot);
        }
        let known = self.variables.len();
        for (key, value) in entries {
            match pipeline.variables.as_slice() {
                [first, second] => {
                    self.assign(first, key, pipeline.declares);
                    self.assign(second, value.clone(), pipeline.declares);
                }
                [only] => self.assign(only, value.clone(), pipeline.declares),
                _ => {}
            }
            let flow = self.nodes(body, &value)?;
            self.variables.truncate(known);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(Flow::On)
    }

    fn assign(&mut self, name: &str, item: Item, declares: bool) {
        if declares {
            self.variables.push((name.to_owned(), item));
            return;
        }
        let mut variables = self.variables.iter_mut().rev();
        if let Some((_, variable)) = variables.find(|(known, _)| known == name) {
            *variable = item;
        }
    }

    /// The result of a pipeline, which its variable takes.
    fn pipeline(&mut self, pipeline: &Pipeline, dot: &Item) -> Result<Item, Failure> {
        let item = self.commands(pipeline, dot)?;
        for name in &pipeline.variables {
            self.assign(name, item.clone(), pipeline.declares);
        }
        Ok(item)
    }

    fn commands(&mut self, pipeline: &Pipeline, dot: &Item) -> Result<Item, Failure> {
        let mut result = None;
        for command in &pipeline.commands {
            let Some((first, rest)) = command.split_first() else {
                continue;
            };
            let mut operands = Vec::with_capacity(rest.len() + 1);
            for operand in rest {
                operands.push(self.operand(operand, dot)?);
            }
            operands.extend(result.take());
            result = Some(match first {
                Operand::Function(name) => called(self.call, name, &operands)?,
                value if operands.is_empty() => self.operand(value, dot)?,
                _ => return refuse("template: can't give argument to non-function"),
            });
        }
        Ok(result.unwrap_or(Item::Value(None)))
    }

    fn operand(&mut self, operand: &Operand, dot: &Item) -> Result<Item, Failure> {
        let (start, fields) = match operand {
            Operand::Function(name) => return called(self.call, name, &[]),
            Operand::Field(start, fields) => (start, fields),
        };
        let mut item = match start.as_ref() {
            Start::Dot => dot.clone(),
            Start::Variable(name) => {
                let mut variables = self.variables.iter().rev();
                let found = variables.find(|(known, _)| known == name);
                found.map_or(Item::Value(None), |(_, item)| item.clone())
            }
            Start::Text(text) => Item::Value(Some(Value::from(text.as_str()))),
            Start::Integer(integer) => Item::Integer(*integer),
            Start::Number(text) => {
                Item::Value(crate::value::Number::parse(text).map(Value::Number))
            }
            Start::Bool(value) => Item::Value(Some(Value::from(*value))),
            Start::Nil => Item::Value(None),
            Start::Pipeline(pipeline) => self.commands(pipeline, dot)?,
        };
        for field in fields {
            item = match &item {
                Item::Value(Some(Value::Object(members))) => {
                    Item::Value(members.get(field).cloned())
                }
                Item::Value(None | Some(Value::Null)) => {
                    return refuse(format!("template: nil data; no entry for key {field:?}"));
                }
                _ => return refuse(format!("template: can't evaluate field {field}")),
            };
        }
        Ok(item)
    }
}
