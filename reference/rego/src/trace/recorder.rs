//! Recorder: collects trace events as an explanation.

use std::rc::Rc;

use super::lines::{Line, show};
use super::{Event, Node, Op, Tracer};
use crate::Value;
use crate::hash::HashMap;
use crate::json_ast::{body_to_json, value_to_json};
use crate::syntax::{Term, TermValue};
use crate::value::Object;

/// Maximum number of events of an explanation, which limits its memory.
pub const MAX_EVENTS: usize = 100_000;

/// Selection of the events of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Calls of `trace`, with events of the enclosing queries.
    Notes,
    /// Expressions that failed, with events of the enclosing queries.
    Fails,
    /// Every step.
    Full,
    /// Every step, and every unification of two terms.
    Debug,
}

/// Output format of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// An object for each event, with nodes as JSON.
    Machine,
    /// A line for each event, for human readers.
    Pretty,
}

/// Records the events of one evaluation.
#[derive(Debug)]
pub struct Recorder {
    filter: Filter,
    form: Form,
    entries: Vec<Rc<Entry>>,
    /// The latest enter or redo event of each query since the last recorded event.
    open: HashMap<u64, Rc<Entry>>,
}

/// An event in the output format.
#[derive(Debug)]
struct Entry {
    query_id: u64,
    parent_id: u64,
    content: Shown,
}

#[derive(Debug)]
enum Shown {
    Machine(Value),
    Pretty(Line),
}

impl Recorder {
    /// Creates an empty recorder.
    pub fn new(filter: Filter, form: Form) -> Self {
        Self {
            filter,
            form,
            entries: Vec::new(),
            open: HashMap::default(),
        }
    }

    /// Returns the explanation: an array of events or lines. Without any lines, one empty line.
    pub fn finish(&self) -> Value {
        let mut events = Vec::with_capacity(self.entries.len());
        let mut lines = Vec::new();
        for entry in &self.entries {
            match &entry.content {
                Shown::Machine(event) => events.push(event.clone()),
                Shown::Pretty(line) => lines.push((entry.query_id, entry.parent_id, line)),
            }
        }
        if self.form == Form::Pretty {
            events = show(&lines).into_iter().map(Value::from).collect();
        }
        events.into()
    }

    fn entry(&self, event: &Event<'_>) -> Rc<Entry> {
        Rc::new(Entry {
            query_id: event.query_id,
            parent_id: event.parent_id,
            content: match self.form {
                Form::Machine => Shown::Machine(object(event)),
                Form::Pretty => Shown::Pretty(Line::of(event)),
            },
        })
    }

    /// Records an event, preceded by the enter or redo events of its enclosing queries that are not
    /// recorded yet.
    fn keep_in_context(&mut self, event: &Event<'_>) {
        let mut path = vec![self.entry(event)];
        let mut next = self.open.remove(&event.query_id);
        while let Some(entry) = next {
            next = self.open.remove(&entry.parent_id);
            path.push(entry);
        }
        self.entries.extend(path.into_iter().rev());
        self.open.clear();
    }
}

impl Tracer for Recorder {
    fn event(&mut self, event: &Event<'_>) {
        if self.entries.len() >= MAX_EVENTS {
            return;
        }
        // The documented events are steps of a query and notes; those about the internals of the
        // evaluator are for human readers only.
        if self.form == Form::Machine && matches!(event.op, Op::Index | Op::Save | Op::Unify) {
            return;
        }
        let op = match self.filter {
            Filter::Debug => return self.entries.push(self.entry(event)),
            Filter::Full if event.op == Op::Unify => return,
            Filter::Full => return self.entries.push(self.entry(event)),
            Filter::Notes => Op::Note,
            Filter::Fails => Op::Fail,
        };
        if event.op == op {
            self.keep_in_context(event);
        }
        let begins = matches!(event.op, Op::Enter | Op::Redo)
            && matches!(event.node, Node::Body(_) | Node::Rule(_));
        if begins && self.open.len() < MAX_EVENTS {
            self.open.insert(event.query_id, self.entry(event));
        }
    }
}

/// Converts an event to an object.
fn object(event: &Event<'_>) -> Value {
    let (kind, node) = match event.node {
        Node::Body(body) => ("body", body_to_json(body)),
        Node::Rule(rule) => ("rule", rule.to_json()),
        Node::Expr(expr) => ("expr", expr.to_json()),
        Node::None => ("", Value::Null),
    };
    let locals = event.locals.iter().map(|(name, value)| {
        let key = Term {
            value: TermValue::Var(name.clone()),
            location: event.location.clone(),
        };
        Value::object([("key", key.to_json()), ("value", value_to_json(value))])
    });
    let locals: Vec<Value> = locals.collect();
    let mut object = Object::new();
    object.insert("op", Value::from(event.op.name()));
    object.insert("query_id", Value::from(event.query_id));
    object.insert("parent_id", Value::from(event.parent_id));
    object.insert("type", Value::from(kind));
    object.insert("node", node);
    object.insert("locals", Value::from(locals));
    if !event.message.is_empty() {
        object.insert("message", Value::from(event.message));
    }
    object.into()
}

impl Op {
    /// Returns the name of the event type in responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Enter => "Enter",
            Self::Exit => "Exit",
            Self::Eval => "Eval",
            Self::Fail => "Fail",
            Self::Redo => "Redo",
            Self::Save => "Save",
            Self::Duplicate => "Duplicate",
            Self::Index => "Index",
            Self::Note => "Note",
            Self::Unify => "Unify",
        }
    }
}
