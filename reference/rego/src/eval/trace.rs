//! Trace events of an evaluation.

use std::rc::Rc;

use thin_vec::thin_vec;

use super::machine::{Frame, Machine};
use super::rules::{Candidate, Candidates};
use super::source_map::SourceMap;
use super::unparse;
use crate::Value;
use crate::compile::rule_tree::SourceNames;
use crate::hash::HashMap;
use crate::ir::{Every, Expr, Operand, Program};
use crate::syntax::{self, Location, TermValue};
use crate::trace::{Event, Node, Op, Tracer};

/// Memory that is charged for an event, as a number of values.
const EVENT: usize = 16;

/// Tracer, and the state needed to report events to it.
pub(super) struct TraceContext<'p> {
    tracer: &'p mut dyn Tracer,
    /// Source nodes of queries and rules, by the addresses of their lowered forms.
    known: HashMap<usize, Rc<Source<'p>>>,
    /// Location of the last event, for events without a location.
    last: Location,
}

/// Source of a lowered program.
struct Source<'p> {
    nodes: SourceMap<'p>,
    written: &'p SourceNames,
}

/// Subject of an event.
#[derive(Clone, Copy)]
pub(super) enum Subject<'s> {
    /// The whole body of the query.
    Body,
    /// The body of a query that evaluates one expression without its `not` and `with`.
    Bare(&'s Expr),
    /// An expression.
    Expr(&'s Expr),
    /// An expression without its `not` and `with`.
    BareExpr(&'s Expr),
    /// The expression that iterates over the members of a domain.
    Generator(&'s Every, &'s Expr),
    /// A rule.
    Rule(Candidate<'s>),
}

impl<'p> TraceContext<'p> {
    /// Creates the tracer state for a query.
    pub(super) fn new(
        tracer: &'p mut dyn Tracer,
        body: &'p syntax::Body,
        program: &Program,
        written: &'p SourceNames,
        start: Location,
    ) -> Self {
        let source = Source {
            nodes: SourceMap::of_query(body),
            written,
        };
        Self {
            tracer,
            known: HashMap::from_iter([(address(program), Rc::new(source))]),
            last: start,
        }
    }

    fn know(&mut self, program: &Program, candidate: Candidate<'p>) {
        self.known.entry(address(program)).or_insert_with(|| {
            let nodes = candidate.ast().map(SourceMap::of_rule).unwrap_or_default();
            Rc::new(Source {
                nodes,
                written: candidate.rule.written(),
            })
        });
    }
}

fn address(program: &Program) -> usize {
    std::ptr::from_ref(program).addr()
}

impl<'p> Machine<'p> {
    /// Reports that a rule is entered.
    pub(super) fn report_enter_rule(&mut self, frame: &Frame<'_>, candidate: Candidate<'p>) {
        if let Some(watch) = &mut self.watch {
            watch.know(frame.program, candidate);
        }
        self.report(frame, Op::Enter, Subject::Rule(candidate));
    }

    /// Reports an event.
    pub(super) fn report(&mut self, frame: &Frame<'_>, op: Op, subject: Subject<'_>) {
        let message = if op == Op::Exit && frame.find_one {
            "early"
        } else {
            ""
        };
        let Some(source) = self.source(frame) else {
            return;
        };
        let nodes = &source.nodes;
        let node_of = |expr: &Expr| nodes.exprs.get(expr.node).copied();
        let stripped;
        let bare_body;
        let node = match subject {
            Subject::Body => nodes
                .bodies
                .get(frame.body.node)
                .map(|body| Node::Body(body)),
            Subject::Expr(expr) => node_of(expr).map(Node::Expr),
            Subject::BareExpr(expr) => {
                stripped = node_of(expr).map(unparse::without_modifiers);
                stripped.as_ref().map(Node::Expr)
            }
            Subject::Bare(expr) => {
                bare_body = node_of(expr).map(|expr| thin_vec![unparse::without_modifiers(expr)]);
                bare_body.as_ref().map(Node::Body)
            }
            Subject::Generator(every, expr) => {
                stripped = node_of(expr)
                    .map(|expr| unparse::generator(&frame.program.names, every, &expr.location));
                stripped.as_ref().map(Node::Expr)
            }
            Subject::Rule(candidate) => {
                let rule = candidate.ast().map(Node::Rule);
                self.send(frame, op, rule, message, None, Some(candidate));
                return;
            }
        };
        self.send(frame, op, node, message, None, None);
    }

    /// Reports the rules that the index selects.
    pub(super) fn trace_index(
        &mut self,
        frame: &Frame<'_>,
        matched: &Candidates<'p>,
        path: &[Value],
    ) {
        let Some(source) = self.source(frame) else {
            return;
        };
        let expr = frame.body.exprs.get(frame.index.get());
        let node = expr.and_then(|expr| source.nodes.exprs.get(expr.node).copied());
        let stripped = node
            .filter(|_| frame.without_modifiers)
            .map(unparse::without_modifiers);
        let Some(node) = stripped.as_ref().or(node) else {
            return;
        };
        let count = matched.rules().count();
        let rules = if count == 1 { "rule" } else { "rules" };
        let early = if matched.early_exit {
            ", early exit"
        } else {
            ""
        };
        let message = format!("(matched {count} {rules}{early})");
        let reference = unparse::path(path, &node.location);
        self.send(
            frame,
            Op::Index,
            Some(Node::Expr(node)),
            &message,
            Some(&reference),
            None,
        );
    }

    /// Reports a note that the policy emits with `trace`.
    pub(super) fn trace_note(&mut self, frame: &Frame<'_>, text: &str) {
        self.send(frame, Op::Note, Some(Node::None), text, None, None);
    }

    /// Reports that two terms are unified.
    pub(super) fn trace_unify(&mut self, frame: &Frame<'_>, left: &Operand, right: &Operand) {
        let left = self.operand_to_term(frame, left);
        let right = self.operand_to_term(frame, right);
        self.report_equality(frame, left, right);
    }

    /// Reports that a value and a term are unified.
    pub(super) fn trace_accept(&mut self, frame: &Frame<'_>, value: &Value, operand: &Operand) {
        let right = self.operand_to_term(frame, operand);
        let left = self.to_term(value);
        self.report_equality(frame, left, right);
    }

    /// Converts a term for an event: a bound variable is replaced by its value.
    fn operand_to_term(&self, frame: &Frame<'_>, operand: &Operand) -> TermValue {
        if let Operand::Var(slot) = operand
            && let Some(value) = self.slot(frame, *slot)
        {
            return self.to_term(value);
        }
        let source = self.source(frame);
        let bodies = source
            .as_deref()
            .map_or(&[][..], |source| &source.nodes.bodies);
        unparse::operand(&frame.program.names, bodies, operand)
    }

    /// Converts a value to a term, if the memory limit permits.
    fn to_term(&self, value: &Value) -> TermValue {
        match self.meter.unfolds(value) {
            true => unparse::value(value),
            false => TermValue::Null,
        }
    }

    fn report_equality(&mut self, frame: &Frame<'_>, left: TermValue, right: TermValue) {
        let Some(watch) = &self.watch else {
            return;
        };
        let at = frame.body.exprs.get(frame.index.get());
        let location = at.map_or(&watch.last, |expr| &expr.location);
        let expr = unparse::equality(left, right, location);
        self.send(frame, Op::Unify, Some(Node::Expr(&expr)), "", None, None);
    }

    fn source(&self, frame: &Frame<'_>) -> Option<Rc<Source<'p>>> {
        self.watch
            .as_ref()?
            .known
            .get(&address(frame.program))
            .cloned()
    }

    fn send(
        &mut self,
        frame: &Frame<'_>,
        op: Op,
        node: Option<Node<'_>>,
        message: &str,
        reference: Option<&[syntax::Term]>,
        candidate: Option<Candidate<'_>>,
    ) {
        let source = self.source(frame);
        let written = source.as_deref().map(|source| source.written);
        let slots = self.slots.get(frame.base..).unwrap_or_default();
        let locals = frame.program.names.iter().zip(slots);
        let locals =
            locals.filter_map(|(name, binding)| Some((name.clone(), binding.get()?.clone())));
        let mut locals: Vec<_> = locals.collect();
        if op == Op::Note {
            locals.clear();
        }
        let (Some(watch), Some(node)) = (&mut self.watch, node) else {
            return;
        };
        // Events are stored with the formatted values of their variables.
        let meter = &self.meter;
        meter.make(EVENT);
        locals.retain(|(_, value)| meter.unfolds(value));
        let location = match node {
            Node::Expr(expr) => expr.location.clone(),
            Node::Body(body) => body
                .first()
                .map_or(watch.last.clone(), |expr| expr.location.clone()),
            Node::Rule(rule) => rule.location.clone(),
            Node::None => frame
                .body
                .exprs
                .get(frame.index.get())
                .map_or(watch.last.clone(), |expr| expr.location.clone()),
        };
        watch.last = location;
        let rule_reference = candidate.map(|candidate| &*candidate.rule.reference);
        watch.tracer.event(&Event {
            op,
            query_id: frame.id,
            parent_id: frame.parent.map_or(0, |parent| parent.id),
            node,
            location: &watch.last,
            locals,
            written: &|name| written.and_then(|written| written.get(name).cloned()),
            message,
            reference: reference.or(rule_reference),
        });
    }
}
