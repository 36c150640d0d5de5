//! Trace events of partial evaluation.

use super::bindings::Frame;
use super::solver::Solver;
use super::terms::Sym;
use crate::hash::HashMap;
use crate::syntax::terms::{dotted, operator};
use crate::syntax::{Body, Expr, ExprTerms, Location, Rule, Term, Var};
use crate::trace::{Event, Node, Op, Tracer};

/// Tracer, and the hierarchy of queries reported to it.
pub(super) struct TraceContext<'p> {
    tracer: &'p mut dyn Tracer,
    written: &'p HashMap<Var, Var>,
    /// Parent query of each query.
    parents: HashMap<Frame, Frame>,
    /// Query under evaluation.
    current: Frame,
}

impl<'p> TraceContext<'p> {
    pub(super) fn new(tracer: &'p mut dyn Tracer, written: &'p HashMap<Var, Var>) -> Self {
        Self {
            tracer,
            written,
            parents: HashMap::default(),
            current: 0,
        }
    }

    fn send(&mut self, op: Op, frame: Frame, node: Node<'_>, at: &Location, message: &str) {
        let written = |name: &Var| self.written.get(name).cloned();
        let parent = self.parents.get(&frame).copied().unwrap_or(0);
        self.tracer.event(&Event {
            op,
            query_id: frame as u64,
            parent_id: parent as u64,
            node,
            location: at,
            locals: Vec::new(),
            written: &written,
            message,
            reference: None,
        });
    }
}

impl Solver<'_> {
    /// Reports an event for an expression of a query.
    pub(super) fn report(&mut self, frame: Frame, op: Op, expr: &Expr) {
        if let Some(watch) = &mut self.watch {
            watch.current = frame;
            watch.send(op, frame, Node::Expr(expr), &expr.location, "");
        }
    }

    /// Reports a note that the policy emits with `trace`.
    pub(super) fn trace_note(&mut self, frame: Frame, expr: &Expr) {
        if self.watch.is_none() {
            return;
        }
        let ExprTerms::Call(call) = &expr.terms else {
            return;
        };
        if operator(call).and_then(dotted).as_deref() != Some("trace") {
            return;
        }
        let text = call.get(1).map(|text: &Term| self.plug(frame, text));
        if let (Some(Sym::Known(text)), Some(watch)) = (text, &mut self.watch)
            && let Some(text) = text.as_str()
        {
            watch.send(Op::Note, frame, Node::None, &expr.location, text);
        }
    }

    /// Reports that a rule is entered or exited, as a separate query.
    pub(super) fn trace_rule(&mut self, frame: Frame, op: Op, rule: &Rule) {
        if let Some(watch) = &mut self.watch {
            if op == Op::Enter {
                let asking = watch.current;
                watch.parents.insert(frame, asking);
            }
            watch.send(op, frame, Node::Rule(rule), &rule.location, "");
        }
    }

    /// Reports an event for the whole query.
    pub(super) fn trace_query(&mut self, op: Op, body: &Body) {
        if let (Some(watch), Some(first)) = (&mut self.watch, body.first()) {
            watch.send(op, 0, Node::Body(body), &first.location, "");
        }
    }
}
