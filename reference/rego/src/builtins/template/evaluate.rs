//! Evaluates pipelines.

use super::error::Wrong;
use super::functions::{Arity, ParameterType, arity, called, not_callable, parameter_type};
use super::item::{Item, TemplateValue};
use super::node::{Command, Fallible, Operand, Pipeline, Term};
use super::number::Number;
use super::render::Renderer;
use crate::builtins::Failure;

/// Arguments of a command: operands after the first, and the result of the previous command.
#[derive(Clone, Copy)]
struct Arguments<'t, 'i> {
    operands: &'t [Operand],
    last: Option<&'i Item>,
}

impl Arguments<'_, '_> {
    const NOTHING: Self = Self {
        operands: &[],
        last: None,
    };

    fn is_empty(&self) -> bool {
        self.operands.is_empty() && self.last.is_none()
    }
}

impl<'t> Renderer<'_, '_, 't> {
    /// Evaluates a pipeline, assigns the result to its variables and returns it.
    pub(super) fn pipeline(&mut self, pipeline: &'t Pipeline, dot: &Item) -> Result<Item, Failure> {
        self.place = Fallible::Pipeline(pipeline);
        let mut result: Option<Item> = None;
        for command in &pipeline.commands {
            self.call.check()?;
            let item = self.command(command, dot, result.as_ref())?;
            result = Some(item.unboxed());
        }
        let result = result.unwrap_or(Item::ABSENT);
        for name in &pipeline.variables {
            match pipeline.declares {
                true => self.variables.push((name, result.clone())),
                false => self.assign(name, result.clone())?,
            }
        }
        Ok(result)
    }

    pub(super) fn assign(&mut self, name: &str, item: Item) -> Result<(), Failure> {
        self.call.spend(self.variables.len() / 8)?;
        let mut variables = self.variables.iter_mut().rev();
        match variables.find(|(known, _)| *known == name) {
            Some((_, variable)) => {
                *variable = item;
                Ok(())
            }
            None => self.fail(format!("undefined variable: {name}")),
        }
    }

    fn command(
        &mut self,
        command: &'t Command,
        dot: &Item,
        last: Option<&Item>,
    ) -> Result<Item, Failure> {
        let Some((first, operands)) = command.operands.split_first() else {
            return Ok(Item::ABSENT);
        };
        let arguments = Arguments { operands, last };
        if !first.fields.is_empty() {
            return self.field(first, dot, arguments);
        }
        match &first.term {
            Term::Function(name) => {
                self.place = Fallible::Operand(first);
                self.function(name, Fallible::Command(command), dot, arguments)
            }
            Term::Pipeline(pipeline) => {
                self.refuse_operands(first, arguments)?;
                stacker::maybe_grow(64 << 10, 1 << 20, || self.pipeline(pipeline, dot))
            }
            Term::Nil => {
                self.place = Fallible::Operand(first);
                self.refuse_operands(first, arguments)?;
                self.fail("nil is not a command")
            }
            Term::Variable(_) => {
                self.place = Fallible::Operand(first);
                let item = self.term(first, dot)?;
                self.refuse_operands(first, arguments)?;
                Ok(item)
            }
            _ => {
                self.place = Fallible::Operand(first);
                self.refuse_operands(first, arguments)?;
                self.term(first, dot)
            }
        }
    }

    fn refuse_operands(
        &self,
        operand: &Operand,
        arguments: Arguments<'_, '_>,
    ) -> Result<(), Failure> {
        if arguments.is_empty() {
            return Ok(());
        }
        let text = match &operand.term {
            Term::Pipeline(pipeline) => pipeline.to_string(),
            _ => operand.to_string(),
        };
        self.fail(format!("can't give argument to non-function {text}"))
    }

    /// Evaluates a term without its fields.
    fn term(&mut self, operand: &'t Operand, dot: &Item) -> Result<Item, Failure> {
        match &operand.term {
            Term::Dot | Term::Fields => Ok(dot.clone()),
            Term::Variable(name) => {
                self.call.spend(self.variables.len() / 8)?;
                let mut variables = self.variables.iter().rev();
                match variables.find(|(known, _)| known == name) {
                    Some((_, item)) => Ok(item.clone()),
                    None => self.fail(format!("undefined variable: {name}")),
                }
            }
            Term::Text(text, _) => Ok(Item::text(text)),
            Term::Number(number, source) => match number {
                Number::Integer(integer) => Ok(Item::integer(*integer)),
                Number::Float(float) => Ok(Item::from_value(TemplateValue::Float(*float))),
                Number::Complex(real, imaginary) => {
                    Ok(Item::from_value(TemplateValue::Complex(*real, *imaginary)))
                }
                Number::TooLarge => self.fail(format!("{source} overflows int")),
            },
            Term::Bool(value) => Ok(Item::from_bool(*value)),
            Term::Nil => Ok(Item::ABSENT),
            Term::Function(name) => {
                self.place = Fallible::Term(operand);
                self.function(name, Fallible::Term(operand), dot, Arguments::NOTHING)
            }
            Term::Pipeline(pipeline) => {
                stacker::maybe_grow(64 << 10, 1 << 20, || self.pipeline(pipeline, dot))
            }
        }
    }

    /// Evaluates an operand with fields, of which the last must not have arguments.
    fn field(
        &mut self,
        operand: &'t Operand,
        dot: &Item,
        arguments: Arguments<'_, '_>,
    ) -> Result<Item, Failure> {
        self.place = Fallible::Operand(operand);
        if let Term::Pipeline(_) = operand.term {
            self.place = Fallible::Term(operand);
        }
        let mut item = self.term(operand, dot)?;
        for (at, field) in operand.fields.iter().enumerate() {
            self.call.check()?;
            let is_last = at + 1 == operand.fields.len();
            item = match &item.content {
                TemplateValue::Absent if item.boxed => {
                    let kind = item.outer_kind();
                    return self.fail(format!("nil pointer evaluating {kind}.{field}"));
                }
                TemplateValue::Absent => Item::ABSENT,
                TemplateValue::Map(_) if is_last && !arguments.is_empty() => {
                    return self.fail(format!("{field} is not a method but has arguments"));
                }
                TemplateValue::Map(members) => members.get(field).map_or(Item::ABSENT, Item::of),
                _ => {
                    let kind = item.outer_kind();
                    return self.fail(format!("can't evaluate field {field} in type {kind}"));
                }
            };
        }
        Ok(item)
    }

    /// Calls a function; errors of the call are reported for `place`.
    fn function(
        &mut self,
        name: &str,
        place: Fallible<'t>,
        dot: &Item,
        arguments: Arguments<'t, '_>,
    ) -> Result<Item, Failure> {
        let count = arguments.operands.len() + usize::from(arguments.last.is_some());
        match arity(name) {
            Arity::AtLeast(minimum) if count < minimum => {
                let count_given = arguments.operands.len();
                return self.fail(format!(
                    "wrong number of args for {name}: want at least {minimum} got {count_given}"
                ));
            }
            Arity::Exactly(exact) if count != exact => {
                return self.fail(format!(
                    "wrong number of args for {name}: want {exact} got {count}"
                ));
            }
            _ => {}
        }
        if matches!(name, "and" | "or") {
            return self.logic(name, dot, arguments);
        }
        let mut items = Vec::with_capacity(count);
        for (at, operand) in arguments.operands.iter().enumerate() {
            items.push(self.operand(operand, parameter_type(name, at), dot)?);
        }
        if let Some(last) = arguments.last {
            items.push(self.check_type(last.clone(), parameter_type(name, items.len()))?);
        }
        let result = match (name, items.as_slice()) {
            ("call", [first, ..]) => Err(not_callable(&callee(arguments, first), first)),
            _ => called(self.call, name, &items),
        };
        result.or_else(|error| match error {
            Wrong::Failure(failure) => Err(failure),
            Wrong::Message(message) => {
                self.place = place;
                self.fail(format!("error calling {name}: {message}"))
            }
        })
    }

    /// Evaluates `and` or `or`: returns the first operand that decides the result, or the last one.
    fn logic(
        &mut self,
        name: &str,
        dot: &Item,
        arguments: Arguments<'t, '_>,
    ) -> Result<Item, Failure> {
        let mut item = Item::ABSENT;
        for operand in arguments.operands {
            item = self.operand(operand, ParameterType::Items, dot)?;
            if item.is_true() == (name == "or") {
                return Ok(item);
            }
        }
        Ok(arguments.last.cloned().unwrap_or(item))
    }

    /// Evaluates an operand of a function.
    fn operand(
        &mut self,
        operand: &'t Operand,
        parameter: ParameterType,
        dot: &Item,
    ) -> Result<Item, Failure> {
        self.call.check()?;
        self.place = Fallible::Operand(operand);
        let item = match &operand.term {
            _ if !operand.fields.is_empty() => self.field(operand, dot, Arguments::NOTHING)?,
            Term::Nil if parameter == ParameterType::Text => {
                return self.fail("cannot assign nil to string");
            }
            Term::Bool(_) | Term::Number(..) if parameter == ParameterType::Text => {
                return self.fail(format!("expected string; found {operand}"));
            }
            _ => self.term(operand, dot)?,
        };
        self.check_type(item, parameter)
    }

    /// Returns an item if a parameter accepts it.
    fn check_type(&self, item: Item, parameter: ParameterType) -> Result<Item, Failure> {
        match (parameter, &item.content) {
            (ParameterType::Items, _) => Ok(item),
            (ParameterType::Shown, _) => Ok(item.unboxed()),
            (ParameterType::Text, TemplateValue::Text(_, "string")) => Ok(item.unboxed()),
            (ParameterType::Text, TemplateValue::Absent) if !item.boxed => {
                self.fail("invalid value; expected string")
            }
            (ParameterType::Text, _) => {
                let kind = match item.is_null() {
                    true => item.outer_kind(),
                    false => item.kind(),
                };
                self.fail(format!("wrong type for value; expected string; got {kind}"))
            }
        }
    }
}

/// Describes a callee for messages.
fn callee(arguments: Arguments<'_, '_>, item: &Item) -> String {
    match (arguments.operands.first(), &item.content) {
        (Some(operand), _) => match &operand.term {
            Term::Pipeline(pipeline) if operand.fields.is_empty() => pipeline.to_string(),
            _ => operand.to_string(),
        },
        (None, TemplateValue::Text(text, _)) => {
            String::from_utf8_lossy(text.as_bytes().unwrap_or_default()).into_owned()
        }
        (None, TemplateValue::Absent) => "<invalid Value>".to_owned(),
        (None, _) => format!("<{} Value>", item.kind()),
    }
}
