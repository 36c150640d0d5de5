//! The evaluator: its state, and the evaluation of bodies.
//!
//! Where there may be several solutions, it uses continuation-passing style: the continuation is a
//! function that is called for each solution, so that answers arrive in the order of a depth-first
//! search, and backtracking is a return. The stack grows as needed.

use std::cell::Cell;
use std::sync::Arc;

use super::binding::Binding;
use super::deterministic::{Deterministic, ResolvedTerm};
use super::evaluation::{Evaluation, Print};
use super::labels::Labels;
use super::memo::Memos;
use super::mocks::Mocks;
use super::prefix_cache::PrefixCache;
use super::scratch::Scratch;
use super::trace::TraceContext;
use crate::Value;
use crate::builtins::{BuiltinContext, Session};
use crate::compile::Policy;
use crate::error::{EvalCode, EvalError};
use crate::ir::{Body, Expr, Kind, Operand, Program, Slot};
use crate::meter::{AbortReason, Meter};
use crate::syntax::Location;
use crate::value::{Number, equal};

/// Maximum nesting depth of queries. Policies cannot recurse, but functions that are replaced by
/// functions can.
const MAX_DEPTH: u32 = 4_000;

/// The stack is grown by `STACK_SEGMENT` bytes when less than `STACK_RESERVE` bytes are left.
pub(super) const STACK_RESERVE: usize = 128 * 1024;
pub(super) const STACK_SEGMENT: usize = 4 * 1024 * 1024;

/// Outcome of an evaluation step.
pub(super) type Flow = Result<(), Interrupt>;

/// Reason for unwinding the stack of an evaluation.
#[derive(Debug)]
pub(super) enum Interrupt {
    /// Unwinds this number of queries, innermost first, because they need no further answers.
    Exit(u32),
    /// Ends the repeated evaluation of a rule, which lists conflicting values, because one was
    /// found.
    Shown,
    /// The evaluation failed.
    Failed(Box<EvalError>),
}

/// Continuation for a solution.
pub(super) type Continuation<'n, 'p> = &'n mut (dyn FnMut(&mut Machine<'p>) -> Flow + 'n);

/// Values of a query's variables.
pub(super) type Values<'v> = &'v dyn Fn(Slot) -> Option<Value>;

/// Open query: the top-level query, a rule, or a closed body within them.
#[derive(Debug)]
pub(super) struct Frame<'f> {
    /// Number of the query, in the order in which queries are opened.
    pub(super) id: u64,
    /// Parent query.
    pub(super) parent: Option<&'f Frame<'f>>,
    /// Nesting depth.
    pub(super) depth: u32,
    /// Index of the query's first slot among the slots of all frames.
    pub(super) base: usize,
    /// Whether one answer to the query is enough.
    pub(super) find_one: bool,
    /// Program that the query evaluates.
    pub(super) program: &'f Program,
    /// Body of the program that the query evaluates.
    pub(super) body: &'f Body,
    /// Index of the current expression.
    pub(super) index: Cell<usize>,
    /// Whether the query evaluates only the current expression, without its `not`.
    pub(super) without_modifiers: bool,
}

/// The state of an evaluation.
pub(super) struct Machine<'p> {
    /// Policy under evaluation.
    pub(super) policy: &'p Policy,
    /// The root of the base documents.
    pub(super) documents: &'p Value,
    /// `input`
    pub(super) input: Binding<'p>,
    /// Cached targets of reference prefixes.
    pub(super) seen: PrefixCache<'p>,
    /// Documents that `with` has replaced, as a tree from the root.
    pub(super) overlay: Option<Value>,
    /// Paths that `with` has replaced, outermost first.
    pub(super) replaced: Vec<Arc<[Value]>>,
    /// Functions that `with` has replaced.
    pub(super) mocks: Mocks,
    /// Variables of all frames.
    pub(super) slots: Vec<Binding<'p>>,
    /// Slots bound inline or by matching, in order, so that the bindings can be undone.
    pub(super) trail: Vec<usize>,
    /// Memoized results.
    pub(super) memos: Box<Memos>,
    /// Number of the next query.
    pub(super) queries: u64,
    /// Resource usage of the evaluation.
    pub(super) meter: &'p Meter,
    /// State shared by built-in functions.
    pub(super) session: Session,
    /// State shared with built-in functions of other evaluations.
    pub(super) outside: BuiltinContext<'p>,
    /// First failure of a built-in function, retained if such failures are errors.
    pub(super) builtin_error: Option<Box<EvalError>>,
    /// Whether failures of built-in functions are errors.
    pub(super) strict: bool,
    /// Tracer state, if the evaluation is traced.
    pub(super) watch: Option<Box<TraceContext<'p>>>,
    /// Labels of rules that have had an answer, if requested.
    pub(super) labels: Option<Box<Labels>>,
    /// Whether answers of rules are reported: `watch` or `labels` is present.
    pub(super) notes_exits: bool,
    /// Receiver of `print` output.
    pub(super) print: Option<Print<'p>>,
}

impl<'f> Frame<'f> {
    /// Creates the frame of a closed body within this frame, with a new query number.
    pub(super) fn closure(&'f self, machine: &mut Machine<'_>, body: &'f Body) -> Frame<'f> {
        Frame {
            id: machine.next_id(),
            parent: Some(self),
            depth: self.depth + 1,
            base: self.base,
            find_one: false,
            program: self.program,
            body,
            index: Cell::new(0),
            without_modifiers: false,
        }
    }

    /// Creates the frame of a query at the same expression, with a new query number.
    pub(super) fn sibling(&'f self, machine: &mut Machine<'_>) -> Frame<'f> {
        Frame {
            index: self.index.clone(),
            ..self.closure(machine, self.body)
        }
    }
}

impl Interrupt {
    /// Returns the interrupt for an evaluation that must end without an answer.
    #[cold]
    pub(super) fn aborted(reason: AbortReason) -> Self {
        Self::Failed(Box::new(reason.error()))
    }

    /// Returns the interrupt for an error at a location.
    pub(super) fn failed_at(
        frame: &Frame<'_>,
        code: EvalCode,
        location: &Location,
        message: impl Into<String>,
    ) -> Self {
        Self::Failed(Box::new(EvalError {
            code,
            message: message.into(),
            location: Some(location.clone()),
            stack: frame.stack(),
        }))
    }
}

impl Frame<'_> {
    /// Returns the open queries and their current expressions, innermost first.
    pub(super) fn stack(&self) -> Vec<(u64, Location)> {
        let mut stack = Vec::new();
        let mut current = Some(self);
        while let Some(frame) = current {
            let exprs = &frame.body.exprs;
            if let Some(expr) = exprs.get(frame.index.get()).or(exprs.last()) {
                stack.push((frame.id, expr.location.clone()));
            }
            current = frame.parent;
        }
        stack
    }
}

/// Subtracts the innermost query from an exit; an exit from only that query ends here.
pub(super) fn exit_query(flow: Flow) -> Flow {
    match flow {
        Err(Interrupt::Exit(levels)) if levels > 1 => Err(Interrupt::Exit(levels - 1)),
        Err(Interrupt::Exit(_)) => Ok(()),
        other => other,
    }
}

/// Deferred exits of a query that must find all of its answers first.
#[derive(Debug, Default)]
pub(super) struct PendingExits(Option<u32>);

impl PendingExits {
    /// Records the exit in a flow if it has to be deferred; returns any other flow.
    pub(super) fn defer(&mut self, find_one: bool, flow: Flow) -> Flow {
        match flow {
            Err(Interrupt::Exit(levels)) if !find_one => {
                self.0.get_or_insert(levels);
                Ok(())
            }
            other => other,
        }
    }

    /// Propagates the first deferred exit.
    pub(super) fn propagate(self) -> Flow {
        self.0.map_or(Ok(()), |levels| Err(Interrupt::Exit(levels)))
    }
}

impl<'p> Machine<'p> {
    /// Begins an evaluation.
    #[inline]
    pub(super) fn new<'e: 'p>(
        policy: &'p Policy,
        evaluation: &Evaluation<'e>,
        meter: &'p Meter,
    ) -> Self {
        let Scratch {
            slots,
            trail,
            memos,
        } = Scratch::take();
        Self {
            policy,
            documents: evaluation.documents,
            input: Binding::Unbound,
            seen: PrefixCache::default(),
            overlay: None,
            replaced: Vec::new(),
            mocks: Mocks::default(),
            slots,
            trail,
            memos,
            queries: 0,
            meter,
            session: evaluation.session(),
            outside: evaluation.builtin_context(),
            builtin_error: None,
            strict: evaluation.strict,
            watch: None,
            labels: None,
            notes_exits: false,
            print: None,
        }
    }

    /// Evaluates a query, and calls `answer` for each solution with an accessor of its variables.
    pub(super) fn for_each_solution(
        &mut self,
        program: &Program,
        answer: &mut dyn FnMut(Values<'_>),
    ) -> Result<(), EvalError> {
        let frame = self.open(None, program, false);
        let flow = self.run(&frame, &mut |machine| {
            machine.meter.make(4 + program.names.len());
            answer(&|slot| machine.slot(&frame, slot).cloned());
            Ok(())
        });
        self.outcome(flow)
    }

    /// Evaluates a query for the first document that an answer binds to a variable.
    pub(super) fn document(
        &mut self,
        program: &Program,
        target: Slot,
    ) -> Result<Option<Value>, EvalError> {
        let frame = self.open(None, program, false);
        let mut document = None;
        let flow = self.find_document(&frame, target, &mut document);
        self.outcome(flow)?;
        Ok(document)
    }

    fn find_document(
        &mut self,
        frame: &Frame<'_>,
        target: Slot,
        document: &mut Option<Value>,
    ) -> Flow {
        if !self.watched()
            && let [expr] = frame.body.exprs.as_slice()
            && let Expr {
                kind: Kind::Unify(Operand::Reference(reference), Operand::Var(slot)),
                negated: false,
                ..
            } = expr
            && *slot == target
            && expr.with.is_empty()
        {
            self.tick()?;
            let mut ground = self.resolved_prefix(frame, reference, &reference.steps);
            if let ResolvedTerm::Rules(node, set, taken) = ground {
                ground = match self.sole_value(frame, node, set)? {
                    // Not memoized, because nothing else reads the value.
                    Some(value) if taken == reference.steps.len() => {
                        *document = value;
                        self.meter.make(4 + frame.program.names.len());
                        return Ok(());
                    }
                    Some(value) => {
                        self.memos.put_complete(set, value);
                        self.after_rules(frame, set, reference, taken)
                    }
                    None => ResolvedTerm::Unknown,
                };
            }
            match ground {
                ResolvedTerm::Value(value) | ResolvedTerm::Lent(value) => {
                    *document = Some(value.clone());
                    self.meter.make(4 + frame.program.names.len());
                    return Ok(());
                }
                ResolvedTerm::Undefined => return Ok(()),
                ResolvedTerm::Rules(..) | ResolvedTerm::Unknown => {}
            }
        }
        self.run(frame, &mut |machine| {
            machine.meter.make(4 + frame.program.names.len());
            if document.is_none() {
                *document = machine.slot(frame, target).cloned().or(Some(Value::Null));
            }
            Ok(())
        })
    }

    /// Converts the last flow of an evaluation to the result of the evaluation.
    fn outcome(&mut self, flow: Flow) -> Result<(), EvalError> {
        let failed = match flow {
            Err(Interrupt::Failed(error)) => Some(error),
            _ => None,
        };
        // An inline evaluation whose result is unsound has to be repeated.
        self.meter.check_valid().map_err(AbortReason::error)?;
        // The first failure of a built-in function takes precedence.
        self.builtin_error
            .take()
            .or(failed)
            .map_or(Ok(()), |error| Err(*error))
    }

    /// Allocates the number of a new query.
    pub(super) fn next_id(&mut self) -> u64 {
        let id = self.queries;
        self.queries += 1;
        id
    }

    /// Whether the evaluation is traced.
    pub(super) fn watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Charges one evaluation step; fails if the evaluation has to end.
    #[inline]
    pub(super) fn tick(&self) -> Flow {
        self.meter.tick().map_err(Interrupt::aborted)
    }

    /// Whether two values are equal.
    #[inline]
    pub(super) fn equal(&self, left: &Value, right: &Value) -> bool {
        match (left, right) {
            (Value::String(left), Value::String(right)) if left.len() < Meter::SHORT_TEXT => {
                left == right
            }
            _ if !left.is_composite() && !self.meter.is_inline() => left == right,
            _ => self.compared(left, right),
        }
    }

    fn compared(&self, left: &Value, right: &Value) -> bool {
        let meter = &self.meter;
        if !meter.admits_both(left, right) {
            return false;
        }
        let (equal, work) = equal(left, right);
        meter.count(work);
        equal
    }

    /// Opens a query with separate variables. [`Self::close`] closes it.
    pub(super) fn open<'f>(
        &mut self,
        parent: Option<&'f Frame<'f>>,
        program: &'f Program,
        find_one: bool,
    ) -> Frame<'f> {
        let base = self.slots.len();
        self.slots
            .resize(base + program.names.len(), Binding::Unbound);
        Frame {
            id: self.next_id(),
            parent,
            depth: parent.map_or(0, |parent| parent.depth + 1),
            base,
            find_one,
            program,
            body: &program.body,
            index: Cell::new(0),
            without_modifiers: false,
        }
    }

    /// Releases the variables of a query.
    pub(super) fn close(&mut self, frame: &Frame<'_>) {
        self.slots.truncate(frame.base);
    }

    /// Evaluates the rest of a body, and the continuation for each solution.
    pub(super) fn body(&mut self, frame: &Frame<'_>, next: Continuation<'_, 'p>) -> Flow {
        let index = frame.index.get();
        if frame.depth > MAX_DEPTH
            && let Some(expr) = frame.body.exprs.get(index)
        {
            let message = "queries are nested too deeply";
            return Err(Interrupt::failed_at(
                frame,
                EvalCode::Internal,
                &expr.location,
                message,
            ));
        }
        let mark = self.trail.len();
        let flow = stacker::maybe_grow(STACK_RESERVE, STACK_SEGMENT, || self.run_body(frame, next));
        self.undo(mark);
        frame.index.set(index);
        flow
    }

    /// Evaluates expressions up to one that may have several solutions, or to the end.
    pub(super) fn run_body(&mut self, frame: &Frame<'_>, next: Continuation<'_, 'p>) -> Flow {
        loop {
            self.tick()?;
            let Some(expr) = frame.body.exprs.get(frame.index.get()) else {
                return match next(self) {
                    Ok(()) if frame.find_one => Err(Interrupt::Exit(1)),
                    Err(Interrupt::Exit(levels)) => Err(Interrupt::Exit(levels + 1)),
                    other => other,
                };
            };
            // Checked first, to avoid a useless lookup of the collection by the general path.
            if let Some(flow) = self.items(frame, expr, next) {
                return flow;
            }
            match self.deterministic(frame, expr)? {
                Deterministic::Holds => frame.index.set(frame.index.get() + 1),
                Deterministic::Fails => return Ok(()),
                // Rules that define the collection may have been evaluated by now.
                Deterministic::Many => {
                    let flow = self.items(frame, expr, next);
                    return flow.unwrap_or_else(|| self.expr(frame, expr, next));
                }
            }
        }
    }

    /// Evaluates the expressions that follow one with a solution.
    pub(super) fn advance(&mut self, frame: &Frame<'_>, next: Continuation<'_, 'p>) -> Flow {
        let index = frame.index.get();
        frame.index.set(index + 1);
        let flow = self.body(frame, next);
        frame.index.set(index);
        flow
    }

    /// Returns the value of a variable.
    pub(super) fn slot(&self, frame: &Frame<'_>, slot: Slot) -> Option<&Value> {
        self.slots.get(frame.base + slot)?.get()
    }

    /// Returns the value of a constant or variable by reference.
    pub(super) fn borrow_value<'v>(
        &'v self,
        frame: &Frame<'_>,
        operand: &'v Operand,
    ) -> Option<&'v Value> {
        match operand {
            Operand::Known(value) => Some(value),
            Operand::Var(slot) => self.slot(frame, *slot),
            _ => None,
        }
    }

    /// Binds a variable to a value while the continuation runs.
    pub(super) fn bound(
        &mut self,
        frame: &Frame<'_>,
        slot: Slot,
        value: Value,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let place = frame.base + slot;
        self.set(place, value);
        let flow = next(self);
        self.clear(place);
        flow
    }

    /// Copies a value into a slot. The copy is built in place, because moving a value that was just
    /// written stalls the processor.
    #[inline]
    pub(super) fn copy_to_slot(&mut self, place: usize, value: &Value) {
        if let Some(slot) = self.slots.get_mut(place) {
            match value {
                Value::Bool(value) => *slot = Binding::Owned(Value::Bool(*value)),
                Value::Number(value) => match value.small() {
                    Some(value) => *slot = Binding::Owned(Value::Number(Number::from(value))),
                    None => *slot = Binding::Owned(Value::Number(value.clone())),
                },
                Value::String(value) => *slot = Binding::Owned(Value::String(value.clone())),
                Value::Array(value) => *slot = Binding::Owned(Value::Array(value.clone())),
                Value::Object(value) => *slot = Binding::Owned(Value::Object(value.clone())),
                other => *slot = Binding::Owned(other.clone()),
            }
        }
    }

    /// Binds a slot to a part of the base documents.
    #[inline]
    pub(super) fn borrow_into(&mut self, place: usize, value: &'p Value) {
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = Binding::Borrowed(value);
        }
    }

    /// Stores a value in a slot.
    pub(super) fn set(&mut self, place: usize, value: Value) {
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = Binding::Owned(value);
        }
    }

    /// Unbinds a slot.
    #[inline]
    pub(super) fn clear(&mut self, place: usize) {
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = Binding::Unbound;
        }
    }

    /// Undoes all bindings recorded on the trail since the position `mark`.
    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some(place) = self.trail.pop() {
                self.clear(place);
            }
        }
    }

    /// Returns the value of a term that needs no evaluation, if all its variables are bound.
    pub(super) fn value(&self, frame: &Frame<'_>, operand: &Operand) -> Option<Value> {
        match operand {
            Operand::Known(value) => Some(value.clone()),
            Operand::Var(slot) => self.slot(frame, *slot).cloned(),
            Operand::Array(items) => {
                self.meter.make(2 + items.len());
                let items = items.iter().map(|item| self.value(frame, item));
                Some(Value::from(items.collect::<Option<Vec<_>>>()?))
            }
            Operand::Object(members) => {
                self.meter.make(3 + 2 * members.len());
                let members = members
                    .iter()
                    .map(|(key, value)| Some((self.value(frame, key)?, self.value(frame, value)?)));
                let members = members.collect::<Option<Vec<_>>>()?;
                if !members.iter().all(|(key, _)| self.meter.admits(key)) {
                    return None;
                }
                Some(Value::object(members))
            }
            Operand::Set(members) => {
                self.meter.make(Meter::set(members.len()));
                let members = members.iter().map(|member| self.value(frame, member));
                let members = members.collect::<Option<Vec<_>>>()?;
                if !members.iter().all(|member| self.meter.admits(member)) {
                    return None;
                }
                Some(Value::from(crate::value::distinct(members)))
            }
            Operand::Reference(_) | Operand::Comprehension(_) => None,
        }
    }
}
