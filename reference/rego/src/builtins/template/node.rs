//! Syntax tree of templates.

use std::collections::BTreeMap;
use std::fmt;

use super::number::Number;
use crate::value::quoted_bytes;

/// Part of a template.
#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    Output(Pipeline),
    If(Branches),
    With(Branches),
    Range(Pipeline, Vec<Node>, Vec<Node>),
    Template(Invocation),
    Break,
    Continue,
}

/// Conditional branches in their order, and the `else` branch.
#[derive(Debug, Default)]
pub(super) struct Branches {
    pub(super) conditions: Vec<(Pipeline, Vec<Node>)>,
    pub(super) otherwise: Vec<Node>,
}

/// Invocation of another template.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) at: usize,
    pub(super) name: Vec<u8>,
    pub(super) with: Option<Pipeline>,
}

/// Sequence of commands, each with the result of the previous one as last operand.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    pub(super) at: usize,
    /// Variables that receive the result, and whether the pipeline declares them.
    pub(super) variables: Vec<String>,
    pub(super) declares: bool,
    pub(super) commands: Vec<Command>,
}

/// Command: a callee and its operands.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) at: usize,
    pub(super) operands: Vec<Operand>,
}

/// Operand: a term with optional fields.
#[derive(Debug)]
pub(super) struct Operand {
    pub(super) at: usize,
    /// Offset of the term, before its fields.
    pub(super) inner: usize,
    pub(super) term: Term,
    /// Names of the fields to look up, each in the value of the previous one.
    pub(super) fields: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Term {
    Dot,
    /// Fields of the dot.
    Fields,
    Variable(String),
    /// A string and its source.
    Text(Vec<u8>, String),
    /// A number and its source.
    Number(Number, String),
    Bool(bool),
    Nil,
    Function(&'static str),
    Pipeline(Pipeline),
}

/// Node at which rendering may fail.
#[derive(Clone, Copy)]
pub(super) enum Fallible<'t> {
    Nowhere,
    Pipeline(&'t Pipeline),
    Command(&'t Command),
    Operand(&'t Operand),
    /// An operand without its fields.
    Term(&'t Operand),
    Invocation(&'t Invocation),
}

impl Fallible<'_> {
    /// Returns the offset of the node.
    pub(super) fn at(&self) -> usize {
        match self {
            Self::Nowhere => 0,
            Self::Pipeline(pipeline) => pipeline.at,
            Self::Command(command) => command.at,
            Self::Operand(operand) => operand.at,
            Self::Term(operand) => operand.inner,
            Self::Invocation(invocation) => invocation.at,
        }
    }
}

impl fmt::Display for Fallible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => Ok(()),
            Self::Pipeline(pipeline) => pipeline.fmt(f),
            Self::Command(command) => command.fmt(f),
            Self::Operand(operand) => operand.fmt(f),
            Self::Term(operand) => operand.term.fmt(f),
            Self::Invocation(invocation) => invocation.fmt(f),
        }
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{template {}", quoted_bytes(&self.name))?;
        if let Some(pipeline) = &self.with {
            write!(f, " {pipeline}")?;
        }
        f.write_str("}}")
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            let sign = if self.declares { ":=" } else { "=" };
            write!(f, "{} {sign} ", self.variables.join(", "))?;
        }
        for (at, command) in self.commands.iter().enumerate() {
            f.write_str(if at > 0 { " | " } else { "" })?;
            command.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, operand) in self.operands.iter().enumerate() {
            f.write_str(if at > 0 { " " } else { "" })?;
            operand.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.term.fmt(f)?;
        self.fields
            .iter()
            .try_for_each(|field| write!(f, ".{field}"))
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dot => f.write_str("."),
            Self::Fields => Ok(()),
            Self::Variable(name) => f.write_str(name),
            Self::Text(_, written) | Self::Number(_, written) => f.write_str(written),
            Self::Bool(value) => value.fmt(f),
            Self::Nil => f.write_str("nil"),
            Self::Function(name) => f.write_str(name),
            Self::Pipeline(pipeline) => write!(f, "({pipeline})"),
        }
    }
}

/// Templates by name.
pub(super) type Templates = BTreeMap<Vec<u8>, Vec<Node>>;

/// Whether the output of the nodes is only white space.
pub(super) fn is_empty(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| match node {
        Node::Text(text) => text.trim().is_empty(),
        _ => false,
    })
}
