//! Trace events and tracers.

mod lines;
mod recorder;

pub use recorder::{Filter, Form, MAX_EVENTS, Recorder};

use crate::Value;
use crate::syntax::{Body, Expr, Location, Rule, Term, Var};

/// Watches an evaluation. Without one nothing is made for it.
pub trait Tracer {
    /// Takes an event. It borrows from the evaluation, so what is kept must be cloned.
    fn event(&mut self, event: &Event<'_>);
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A query or rule begins.
    Enter,
    /// A query or rule has an answer.
    Exit,
    /// An expression is looked at.
    Eval,
    /// An expression has no answer.
    Fail,
    /// Another answer is looked for.
    Redo,
    /// An expression became a part of the residual.
    Save,
    /// A rule gives what another has given already.
    Duplicate,
    /// The rules that can matter were chosen.
    Index,
    /// A policy said something by `trace`.
    Note,
    /// Two terms are made equal.
    Unify,
}

/// What an event is about, as the compiler left it.
#[derive(Debug, Clone, Copy)]
pub enum Node<'e> {
    /// The body of a query.
    Body(&'e Body),
    /// A rule.
    Rule(&'e Rule),
    /// An expression.
    Expr(&'e Expr),
    /// Nothing: a note stands for itself.
    None,
}

/// One event.
#[expect(
    missing_debug_implementations,
    reason = "it lends a function, which shows nothing"
)]
pub struct Event<'e> {
    /// What happens.
    pub op: Op,
    /// The query in which it happens, from 0.
    pub query_id: u64,
    /// The query that asked this one; the first has 0.
    pub parent_id: u64,
    /// What it is about.
    pub node: Node<'e>,
    /// Where that stands.
    pub location: &'e Location,
    /// The variables that are bound, generated ones among them, as far as they have values.
    pub locals: Vec<(Var, Value)>,
    /// For generated variables, the names that authors wrote.
    pub written: &'e dyn Fn(&Var) -> Option<Var>,
    /// What is said about it: `(matched 1 rule, early exit)` of an index, `early` of an exit, a
    /// note's text.
    pub message: &'e str,
    /// The rule or document that an index, or an exit from a rule, is about.
    pub reference: Option<&'e [Term]>,
}
