//! The solver of partial evaluation: searches for all ways to satisfy a body.
//!
//! It is written in continuation-passing style, like the machine of plain evaluation: the rest of
//! the search is a function that is called for each solution, and backtracking is a return.
//! Everything that does not depend on something unknown is evaluated by that machine.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;
use thin_vec::thin_vec;

use super::analysis_cache::Analysis;
use super::bindings::{Bindings, Frame, VarState};
use super::depends::Depends;
use super::expr_stats::Saved;
use super::rules::Solution;
use super::support::Supports;
use super::terms::{self, Sym};
use super::unknowns::References;
use crate::Value;
use crate::compile::Policy;
use crate::error::{EvalCode, EvalError};
use crate::eval::{GroundEvaluator, Prepared};
use crate::hash::HashMap;
use crate::meter::Meter;
use crate::syntax::terms::{constant, dotted, is_var, operator};
use crate::syntax::{Expr, ExprTerms, Location, Term, TermValue, Var};
use crate::trace::Op;

/// Outcome of a search step.
pub(super) type Flow = Result<(), Box<EvalError>>;

/// Continuation: the rest of the search.
pub(super) type Continuation<'n, 'p> = &'n mut (dyn FnMut(&mut Solver<'p>) -> Flow + 'n);

/// Continuation that is called with each value.
pub(super) type OnValue<'n, 'p> = &'n mut (dyn FnMut(&mut Solver<'p>, Sym) -> Flow + 'n);

/// Cost of a search step, in units of the meter.
const STEP: usize = 16;

/// Maximum number of steps of a search.
const MAX_STEPS: usize = 200_000;

/// Maximum number of terms of a residual, over all of its queries.
const MAX_TERMS: usize = 500_000;

/// Maximum number of parts of a term that replaces a variable.
const MAX_INLINED: usize = 200;

/// Search state.
pub(super) struct Solver<'p> {
    pub(super) policy: &'p Policy,
    pub(super) documents: &'p Value,
    pub(super) input: Option<Value>,
    pub(super) unknowns: References,
    /// Rules that are not inlined.
    pub(super) opaque: References,
    /// Whether calls of nondeterministic functions remain in the residual.
    pub(super) defer_nondeterministic: bool,
    pub(super) bindings: Bindings<'p>,
    pub(super) depends: Depends<'p>,
    pub(super) supports: Supports,
    /// Whether a modifier replaces the input in the nodes being preserved.
    pub(super) raw: bool,
    /// Solutions of rules, by the address of the rule set.
    pub(super) solved: HashMap<usize, Rc<Vec<Solution>>>,
    pub(super) watch: Option<super::watch::TraceContext<'p>>,
    pub(super) meter: &'p Meter,
    concrete: GroundEvaluator<'p>,
    pub(super) analysis: Analysis,
    steps: usize,
    terms: usize,
}

impl<'p> Solver<'p> {
    pub(super) fn new<'e: 'p>(
        policy: &'p Policy,
        evaluation: &crate::Evaluation<'e>,
        meter: &'p Meter,
        options: &super::PartialOptions,
        mut analysis: Analysis,
    ) -> Self {
        let defer_nondeterministic = options.preserves_nondeterministic_calls();
        let unknowns = options.unknowns.clone();
        let mut depends = Depends::new(
            policy.module_set(),
            unknowns.clone(),
            defer_nondeterministic,
        );
        depends.rules = std::mem::take(&mut analysis.rules);
        Self {
            policy,
            documents: evaluation.documents,
            input: evaluation.input.clone(),
            opaque: options.disable_inlining.clone(),
            defer_nondeterministic,
            bindings: Bindings::new(meter, std::mem::take(&mut analysis.names)),
            depends,
            supports: Supports::default(),
            raw: false,
            solved: HashMap::default(),
            watch: None,
            unknowns,
            meter,
            concrete: GroundEvaluator::new(policy, evaluation, meter),
            analysis,
            steps: 0,
            terms: 0,
        }
    }

    /// Ends the search, and returns the analysis for later searches with the same unknowns.
    pub(super) fn into_analysis(self) -> Analysis {
        let mut analysis = self.analysis;
        analysis.rules = self.depends.rules;
        analysis.names = self.bindings.into_names();
        analysis
    }

    /// Searches for all solutions of a list of expressions.
    pub(super) fn body(
        &mut self,
        frame: Frame,
        exprs: &'p [Expr],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let Some((first, rest)) = exprs.split_first() else {
            return next(self);
        };
        self.step()?;
        stacker::maybe_grow(256 * 1024, 4 * 1024 * 1024, || {
            self.report(frame, Op::Eval, first);
            self.trace_note(frame, first);
            let mut found = false;
            let mark = self.bindings.checkpoint();
            self.expr(frame, first, &mut |solver| {
                found = true;
                if solver.bindings.saved.len() > mark.saved {
                    solver.report(frame, Op::Save, first);
                }
                let flow = solver.body(frame, rest, next);
                solver.report(frame, Op::Redo, first);
                flow
            })?;
            if !found {
                self.report(frame, Op::Fail, first);
            }
            Ok(())
        })
    }

    /// Counts a step of the search.
    pub(super) fn step(&mut self) -> Flow {
        let ticked = self.meter.spend(STEP);
        ticked.map_err(|ended| Box::new(ended.error()))?;
        self.steps += 1;
        if self.steps > MAX_STEPS {
            let message = "partial evaluation takes too many steps";
            return Err(failure(EvalCode::Internal, message));
        }
        Ok(())
    }

    /// Charges parts that are added to the residual.
    pub(super) fn charge(&mut self, saved: &[Saved]) -> Flow {
        let sizes = saved.iter().map(Saved::size);
        self.terms += 1 + sizes.sum::<usize>();
        if self.terms > MAX_TERMS {
            let message = "the result of partial evaluation is too large";
            return Err(failure(EvalCode::Internal, message));
        }
        Ok(())
    }

    fn expr(&mut self, frame: Frame, expr: &'p Expr, next: Continuation<'_, 'p>) -> Flow {
        if matches!(expr.terms, ExprTerms::Some(_)) || is_print(expr) {
            return next(self);
        }
        if let Some((prepared, bindings)) = self.concrete_form(frame, expr) {
            return self.concrete(frame, (expr, &prepared), bindings, next);
        }
        let mark = self.bindings.checkpoint();
        let flow = if !expr.with.is_empty() {
            self.preserve_whole(frame, expr, next)
        } else if expr.negated {
            self.negated(frame, expr, next)
        } else {
            self.kind(frame, expr, next)
        };
        self.bindings.undo(mark);
        flow
    }

    /// Searches for the solutions of an expression without its `not`.
    pub(super) fn kind(
        &mut self,
        frame: Frame,
        expr: &'p Expr,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        match &expr.terms {
            ExprTerms::Term(term) => {
                self.side(frame, term, Some(&Expectation::Truthy), &mut |s, sym| {
                    s.holds(sym, &expr.location, next)
                })
            }
            ExprTerms::Call(call) => self.call(frame, expr, call, next),
            ExprTerms::Every(every) => self.every(frame, expr, every, next),
            ExprTerms::Logic(logic) => self.logic(frame, logic, next),
            ExprTerms::Some(_) => next(self),
        }
    }

    fn call(
        &mut self,
        frame: Frame,
        expr: &'p Expr,
        call: &'p [Term],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let name = operator(call).unwrap_or_default();
        let operands = call.get(1..).unwrap_or_default();
        if name.first().is_some_and(|head| is_var(head, "data")) {
            return self.function(frame, expr, name, operands, next);
        }
        let name = dotted(name).unwrap_or_default();
        match (&*name, operands) {
            ("eq" | "equal" | "assign", [left, right]) => self.equality(frame, left, right, next),
            _ => self.builtin(frame, expr, &name, operands, next),
        }
    }

    fn equality(
        &mut self,
        frame: Frame,
        left: &'p Term,
        right: &'p Term,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let location = &left.location;
        let expected = self.expected_value(frame, right);
        self.side(frame, left, expected.as_ref(), &mut |solver, left| {
            let expected = match &left {
                Sym::Known(value) => Some(Expectation::Is(value.clone())),
                Sym::Term(_) => None,
            };
            let left = &left;
            solver.side(frame, right, expected.as_ref(), &mut |solver, right| {
                let mark = solver.bindings.checkpoint();
                let flow = match solver.unify(left.clone(), right, location) {
                    true => next(solver),
                    false => Ok(()),
                };
                solver.bindings.undo(mark);
                flow
            })
        })
    }

    /// Returns the value that the other side must have: that of a term known without evaluation.
    fn expected_value(&mut self, frame: Frame, term: &Term) -> Option<Expectation> {
        match &term.value {
            TermValue::Ref(_)
            | TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_) => None,
            _ => self.plug(frame, term).known().cloned().map(Expectation::Is),
        }
    }

    /// Visits the values of a term.
    pub(super) fn side(
        &mut self,
        frame: Frame,
        term: &'p Term,
        expected: Option<&Expectation>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        match &term.value {
            TermValue::Ref(reference) => self.reference(frame, reference, expected, each),
            TermValue::Var(_) if is_var(term, "input") || is_var(term, "data") => {
                self.reference(frame, std::slice::from_ref(term), expected, each)
            }
            TermValue::ArrayComprehension(_)
            | TermValue::SetComprehension(_)
            | TermValue::ObjectComprehension(_) => {
                let mark = self.bindings.checkpoint();
                let collected = self.comprehension(frame, term)?;
                let flow = match collected {
                    Some(collected) => each(self, collected),
                    None => Ok(()),
                };
                self.bindings.undo(mark);
                flow
            }
            _ => {
                let sym = self.plug(frame, term);
                each(self, sym)
            }
        }
    }

    /// Returns the value of a comprehension, or a variable bound to the preserved comprehension.
    fn comprehension(
        &mut self,
        frame: Frame,
        term: &'p Term,
    ) -> Result<Option<Sym>, Box<EvalError>> {
        let value = Var("$value".into());
        let left = terms::var(&value, &term.location);
        let equal = terms::call("eq", [left, term.clone()], &term.location);
        let address = std::ptr::from_ref(term).addr();
        let prepared = (!self.depends(address, &equal)).then(|| self.prepared(address, &equal));
        if let Some(prepared) = prepared
            && let Some((known, _)) = self.known_bindings(frame, &prepared)
        {
            let place = prepared.names().iter().position(|name| *name == value);
            let targets: Vec<_> = place.into_iter().collect();
            let answers = self.concrete.answers(&prepared, &known, &targets)?;
            let value = answers.into_iter().flatten().flatten().next();
            return Ok(value.map(Sym::Known));
        }
        let preserved = self.preserve_term(frame, term);
        let name = self.bindings.fresh();
        let variable = terms::var(&name, &term.location);
        let equal = terms::call("eq", [variable.clone(), preserved], &term.location);
        self.bindings.save(equal);
        Ok(Some(Sym::Term(variable)))
    }

    /// Substitutes the bindings of the variables of a term.
    pub(super) fn plug(&mut self, frame: Frame, term: &Term) -> Sym {
        if let Some(value) = constant(term) {
            return Sym::Known(value);
        }
        if let TermValue::Var(name) = &term.value {
            return match self.bindings.lookup(frame, name) {
                Sym::Term(mut found) => {
                    found.location = term.location.clone();
                    Sym::Term(found)
                }
                known => known,
            };
        }
        let plugged = self.preserve_term(frame, term);
        self.bindings.resolved(Sym::Term(plugged))
    }

    /// Calls the continuation for the case that a value is not `false`.
    pub(super) fn holds(
        &mut self,
        sym: Sym,
        location: &Location,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        match sym {
            Sym::Known(Value::Bool(false)) => Ok(()),
            Sym::Known(_) => next(self),
            Sym::Term(term) => match &term.value {
                TermValue::Array(_) | TermValue::Object(_) | TermValue::Set(_) => next(self),
                TermValue::Var(name) if self.bindings.is_free(name) => Ok(()),
                _ => {
                    let mark = self.bindings.checkpoint();
                    let mut expr = terms::to_expr(term);
                    expr.location = location.clone();
                    self.bindings.save(expr);
                    let flow = next(self);
                    self.bindings.undo(mark);
                    flow
                }
            },
        }
    }

    /// Whether an expression depends on something unknown.
    fn depends(&mut self, address: usize, expr: &Expr) -> bool {
        let depends = &mut self.depends;
        let known = self.analysis.dependent.entry(address);
        *known.or_insert_with(|| depends.expr(expr))
    }

    /// Returns an expression prepared for the machine.
    fn prepared(&mut self, address: usize, expr: &Expr) -> Arc<Prepared> {
        let known = self.analysis.prepared.entry(address);
        let prepared = known.or_insert_with(|| Arc::new(Prepared::new(expr)));
        prepared.clone()
    }

    /// Returns the slots of an expression that have known values, and those that are free; `None`
    /// if a variable is bound to something unknown.
    fn known_bindings(&mut self, frame: Frame, prepared: &Prepared) -> Option<Args> {
        let mut known = SmallVec::new();
        let mut free = SmallVec::new();
        for (slot, var) in prepared.names().iter().enumerate() {
            match self.bindings.var_state(frame, var) {
                VarState::Free => free.push(slot),
                VarState::Known(value) => known.push((slot, value)),
                VarState::Unknown => return None,
            }
        }
        Some((known, free))
    }

    /// Prepares an expression that does not depend on unknowns for the machine.
    fn concrete_form(&mut self, frame: Frame, expr: &'p Expr) -> Option<(Arc<Prepared>, Args)> {
        let address = std::ptr::from_ref(expr).addr();
        if self.depends(address, expr) && !self.is_replaced(expr) {
            return None;
        }
        let prepared = self.prepared(address, expr);
        let known_bindings = self.known_bindings(frame, &prepared)?;
        Some((prepared, known_bindings))
    }

    /// Whether the modifiers of an expression replace everything unknown by known values.
    fn is_replaced(&mut self, expr: &'p Expr) -> bool {
        if expr.with.is_empty() {
            return false;
        }
        let address = std::ptr::from_ref(expr).addr();
        if let Some(known) = self.analysis.replaced.get(&address) {
            return *known;
        }
        let found = self.replaces(expr);
        self.analysis.replaced.insert(address, found);
        found
    }

    /// Computes [`Self::is_replaced`] without the cache.
    fn replaces(&mut self, expr: &Expr) -> bool {
        let mut unknowns = self.unknowns.clone();
        for with in &expr.with {
            if let Some((root, path)) = super::preserve::target(with) {
                unknowns = unknowns.without(root, &path);
            }
        }
        let module_set = self.policy.module_set();
        let mut unmodified = expr.clone();
        unmodified.with.clear();
        let mut depends = Depends::new(module_set, unknowns, self.defer_nondeterministic);
        !depends.expr(&unmodified) && !expr.with.iter().any(|with| self.depends.term(&with.value))
    }

    /// Evaluates an expression with the machine.
    fn concrete(
        &mut self,
        frame: Frame,
        (expr, prepared): (&'p Expr, &Prepared),
        (known, free): Args,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let named = match free.is_empty() {
            true => BTreeSet::new(),
            false => terms::expr_vars(expr),
        };
        let names = prepared.names();
        let outputs: Vec<_> = free
            .into_iter()
            .filter(|slot| {
                names
                    .get(*slot)
                    .is_some_and(|name| !name.is_wildcard() && named.contains(name))
            })
            .collect();
        let answers = self.concrete.answers(prepared, &known, &outputs)?;
        for answer in answers {
            self.step()?;
            let mark = self.bindings.checkpoint();
            for (slot, value) in outputs.iter().zip(answer) {
                if let (Some(var), Some(value)) = (names.get(*slot), value) {
                    let name = self.bindings.name(frame, var);
                    self.bindings.bind(&name, Sym::Known(value));
                }
            }
            let flow = next(self);
            self.bindings.undo(mark);
            flow?;
        }
        Ok(())
    }

    /// Returns the results of a call whose operands are all known.
    pub(super) fn results(
        &mut self,
        operator: Term,
        operands: &[Value],
        location: &Location,
    ) -> Result<Vec<Value>, Box<EvalError>> {
        let mut parts = thin_vec![operator];
        let operands = operands.iter().enumerate();
        let known = operands.map(|(at, operand)| (Var(format!("${at}").into()), operand.clone()));
        let known: Vec<_> = known.collect();
        parts.extend(known.iter().map(|(name, _)| terms::var(name, location)));
        parts.push(terms::var(&Var("$value".into()), location));
        self.values_of(&terms::expr(ExprTerms::Call(parts), location), &known)
    }

    /// Returns the values of the variable `$value` in the solutions of an expression, given the
    /// values of other variables.
    pub(super) fn values_of(
        &mut self,
        expr: &Expr,
        known: &[(Var, Value)],
    ) -> Result<Vec<Value>, Box<EvalError>> {
        let prepared = Prepared::new(expr);
        let slot = |var: &Var| prepared.names().iter().position(|name| name == var);
        let known = known.iter();
        let known = known.filter_map(|(name, value)| Some((slot(name)?, value.clone())));
        let known: Vec<_> = known.collect();
        let targets: Vec<_> = slot(&Var("$value".into())).into_iter().collect();
        let answers = self.concrete.answers(&prepared, &known, &targets)?;
        Ok(answers.into_iter().flatten().flatten().collect())
    }

    /// Whether a term may replace a variable at every use: it has the same meaning everywhere, and
    /// is small.
    pub(super) fn is_inlined(&self, term: &Term) -> bool {
        terms::size(term) <= MAX_INLINED
            && !terms::any_var(term, |name| self.bindings.is_free(name))
    }
}

/// Constraint of an expression on the value of a term.
#[derive(Debug)]
pub(super) enum Expectation {
    /// Any value but `false`.
    Truthy,
    /// Exactly this value.
    Is(Value),
}

impl Expectation {
    pub(super) fn accepts(&self, value: &Value) -> bool {
        match self {
            Self::Truthy => *value != Value::Bool(false),
            Self::Is(expected) => expected == value,
        }
    }
}

/// Slots that have values, and slots that are free.
type Args = (SmallVec<[(usize, Value); 4]>, SmallVec<[usize; 4]>);

/// Rules of the support modules of a residual, by package.
pub(super) type Packages = BTreeMap<Vec<Value>, Vec<crate::syntax::Rule>>;

pub(super) fn failure(code: EvalCode, message: &str) -> Box<EvalError> {
    Box::new(EvalError {
        code,
        message: message.to_owned(),
        location: None,
        stack: Vec::new(),
    })
}

/// Whether an expression only prints.
pub(super) fn is_print(expr: &Expr) -> bool {
    let ExprTerms::Call(call) = &expr.terms else {
        return false;
    };
    match operator(call).unwrap_or_default() {
        [name] => is_var(name, "print"),
        [head, name] => {
            is_var(head, "internal")
                && matches!(&name.value, TermValue::String(name) if **name == *"print")
        }
        _ => false,
    }
}

impl std::fmt::Debug for Solver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Solver")
    }
}
