//! Trace events and tracers.

mod lines;
mod recorder;

pub use recorder::{Filter, Form, MAX_EVENTS, Recorder};

use crate::Value;
use crate::syntax::{Body, Expr, Location, Rule, Term, Var};

/// Receives the events of an evaluation. Without a tracer no events are created.
pub trait Tracer {
    /// Handles an event. It borrows from the evaluation, so data to be stored must be cloned.
    fn event(&mut self, event: &Event<'_>);
}

/// Type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// A query or rule is entered.
    Enter,
    /// A query or rule has a solution.
    Exit,
    /// An expression is evaluated.
    Eval,
    /// An expression has no solution.
    Fail,
    /// Another solution is searched.
    Redo,
    /// An expression is saved in the residual.
    Save,
    /// A rule yields a value that another has yielded already.
    Duplicate,
    /// The index has selected the candidate rules.
    Index,
    /// The policy calls `trace`.
    Note,
    /// Two terms are unified.
    Unify,
}

/// Subject of an event, in its compiled form.
#[derive(Debug, Clone, Copy)]
pub enum Node<'e> {
    /// The body of a query.
    Body(&'e Body),
    /// A rule.
    Rule(&'e Rule),
    /// An expression.
    Expr(&'e Expr),
    /// No subject, as of a note.
    None,
}

/// Trace event.
#[expect(
    missing_debug_implementations,
    reason = "it lends a function, which shows nothing"
)]
pub struct Event<'e> {
    /// Type of the event.
    pub op: Op,
    /// Id of the query, from 0.
    pub query_id: u64,
    /// Id of the parent query; 0 for the first query.
    pub parent_id: u64,
    /// Subject of the event.
    pub node: Node<'e>,
    /// Source location of the subject.
    pub location: &'e Location,
    /// Bound variables, including generated ones.
    pub locals: Vec<(Var, Value)>,
    /// Source names of generated variables.
    pub written: &'e dyn Fn(&Var) -> Option<Var>,
    /// Message: `(matched 1 rule, early exit)` of an index event, `early` of an exit, text of a
    /// note.
    pub message: &'e str,
    /// Reference to the rule or document, for an index event or the exit from a rule.
    pub reference: Option<&'e [Term]>,
}
