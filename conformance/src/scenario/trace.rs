//! Expected trace events.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::scenario::Kind;
use crate::scenario::resource_names::canonical;

/// Fact about the trace in a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trace {
    /// There is no trace, or one without events.
    Absent,
    /// Events like these occur in this order, with any others in between.
    Order(Vec<TraceEvent>),
    /// The trace is not a list of events but a string, or a list of strings, and contains this.
    Readable(&'static str),
    /// There is a trace, and none of its events is like this.
    Without(TraceEvent),
    /// There are events like this, and each has a value of these types wherever the pointer
    /// (which may have `*`) leads.
    Types(TraceEvent, &'static str, Vec<Kind>),
    /// There are events like this, and each has one of these strings at the pointer.
    Texts(TraceEvent, &'static str, Vec<&'static str>),
}

/// Pattern for an event of a trace; unset fields match anything.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TraceEvent {
    /// `op`, in any case.
    pub op: Option<&'static str>,
    /// `type`.
    pub node_type: Option<&'static str>,
    /// A value that `node` contains at any depth.
    pub holds: Option<Value>,
    /// A value that a variable in `locals` is bound to.
    pub binds: Option<Value>,
    /// A value that no variable in `locals` is bound to.
    pub binds_not: Option<Value>,
    /// A name for `query_id`: the same name stands for the same id, another name for another id.
    pub query: Option<&'static str>,
    /// A name for `parent_id`, in the same sense as in `query`.
    pub parent: Option<&'static str>,
}

/// A pattern for any event.
pub fn any_event() -> TraceEvent {
    TraceEvent::default()
}

/// A pattern for the events of an operation.
pub fn event(op: &'static str) -> TraceEvent {
    TraceEvent {
        op: Some(op),
        ..TraceEvent::default()
    }
}

impl TraceEvent {
    /// Restricts the pattern to events of this `type`.
    #[must_use]
    pub fn of(mut self, node_type: &'static str) -> Self {
        self.node_type = Some(node_type);
        self
    }

    /// Restricts the pattern to nodes that contain this value, which identifies a rule or an
    /// expression.
    #[must_use]
    pub fn holding(mut self, value: impl Into<Value>) -> Self {
        self.holds = Some(value.into());
        self
    }

    /// Requires a variable that is bound to this value.
    #[must_use]
    pub fn binding(mut self, value: impl Into<Value>) -> Self {
        self.binds = Some(value.into());
        self
    }

    /// Excludes variables that are bound to this value.
    #[must_use]
    pub fn not_binding(mut self, value: impl Into<Value>) -> Self {
        self.binds_not = Some(value.into());
        self
    }

    /// Names the query of the event, so that later events can refer to it.
    #[must_use]
    pub fn query(mut self, name: &'static str) -> Self {
        self.query = Some(name);
        self
    }

    /// Names the query whose evaluation the event's query is part of.
    #[must_use]
    pub fn parent(mut self, name: &'static str) -> Self {
        self.parent = Some(name);
        self
    }
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.op.unwrap_or("any event"))?;
        if let Some(node_type) = self.node_type {
            write!(out, " {node_type}")?;
        }
        let values = [
            ("with", &self.holds),
            ("binding", &self.binds),
            ("not binding", &self.binds_not),
        ];
        for (word, value) in values {
            if let Some(value) = value {
                write!(out, " {word} {}", canonical(value, ""))?;
            }
        }
        for (word, name) in [("in", self.query), ("called from", self.parent)] {
            if let Some(name) = name {
                write!(out, " {word} {name}")?;
            }
        }
        Ok(())
    }
}
