//! Deterministic expressions: those with at most one solution, evaluated inline without a
//! continuation. Their bindings stay on the trail until the body is left.
//!
//! Continuations are needed for expressions that may have several solutions. They are also needed
//! for rules and functions with several candidates, or that read such rules, because it is
//! observable that the continuation runs between the candidates. A traced evaluation needs them for
//! everything.

use super::binding::Binding;
use super::functions::CallOutcome;
use super::machine::{Frame, Interrupt, Machine};
use super::value_ref::{member, stored};
use crate::Value;
use crate::builtins::SmallResult;
use crate::compile::rule_tree::{Node, RuleSet};
use crate::ir::{
    BuiltinCall, Comprehension, Expr, FunctionCall, Kind, Operand, Reference, Root, Slot, Step,
};
use crate::value::Number;

/// Result of a deterministic evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deterministic {
    /// The expression has exactly one solution.
    Holds,
    /// The expression has no solution.
    Fails,
    /// The expression may have several solutions, and nothing was evaluated.
    Many,
}

/// Result of resolving a term without evaluation.
pub(super) enum ResolvedTerm<'g, 'p> {
    Value(&'g Value),
    /// Part of the base documents, or of a constant of the policy.
    Lent(&'p Value),
    Undefined,
    /// The term depends on these rules, which are reached after this number of steps.
    Rules(&'p Node, &'p RuleSet, usize),
    Unknown,
}

impl<'p> ResolvedTerm<'p, 'p> {
    /// Converts a value that outlives the evaluation to a borrowed one.
    fn borrowed<'g>(self) -> ResolvedTerm<'g, 'p> {
        match self {
            Self::Value(value) | Self::Lent(value) => ResolvedTerm::Lent(value),
            Self::Undefined => ResolvedTerm::Undefined,
            Self::Rules(node, set, taken) => ResolvedTerm::Rules(node, set, taken),
            Self::Unknown => ResolvedTerm::Unknown,
        }
    }
}

impl From<bool> for Deterministic {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

impl<'p> Machine<'p> {
    /// Evaluates an expression with at most one solution.
    pub(super) fn deterministic(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
    ) -> Result<Deterministic, Interrupt> {
        if self.watched() || !expr.with.is_empty() {
            return Ok(Deterministic::Many);
        }
        if expr.negated {
            return Ok(Deterministic::from(!self.has_solutions(frame, expr)?));
        }
        self.det_plain(frame, expr)
    }

    /// Evaluates an expression without its modifiers.
    pub(super) fn det_plain(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
    ) -> Result<Deterministic, Interrupt> {
        Ok(match &expr.kind {
            Kind::Holds(operand) => match self.ground(frame, operand) {
                ResolvedTerm::Value(value) | ResolvedTerm::Lent(value) => {
                    Deterministic::from(*value != Value::Bool(false))
                }
                ResolvedTerm::Undefined => Deterministic::Fails,
                ResolvedTerm::Rules(node, set, _) => {
                    match self.memoize_sole_value(frame, node, set)? {
                        true => return self.det_plain(frame, expr),
                        false => Deterministic::Many,
                    }
                }
                ResolvedTerm::Unknown => Deterministic::Many,
            },
            Kind::Unify(left, right) => return self.det_equality(frame, left, right),
            Kind::Builtin(call) => return self.det_builtin(frame, expr, call),
            Kind::Every(every) => match self.domain(frame, every) {
                Some(domain) => {
                    let child = frame.sibling(self);
                    Deterministic::from(self.holds_for_all(&child, expr, every, &domain)?)
                }
                None => Deterministic::Fails,
            },
            Kind::Logic(connective, bodies) => {
                Deterministic::from(self.connected(frame, *connective, bodies)?)
            }
            Kind::Function(call) => return self.det_function(frame, call),
        })
    }

    fn det_equality(
        &mut self,
        frame: &Frame<'_>,
        left: &Operand,
        right: &Operand,
    ) -> Result<Deterministic, Interrupt> {
        Ok(match (left, right) {
            (Operand::Reference(reference), other) | (other, Operand::Reference(reference)) => {
                return self.det_reference(frame, reference, other);
            }
            (Operand::Comprehension(_), Operand::Comprehension(_)) => Deterministic::Many,
            (Operand::Comprehension(comprehension), other)
            | (other, Operand::Comprehension(comprehension)) => {
                return self.det_comprehension(frame, comprehension, other);
            }
            (Operand::Var(slot), other) | (other, Operand::Var(slot))
                if self.slot(frame, *slot).is_none() =>
            {
                match self.value(frame, other) {
                    Some(value) => self.bind(frame, *slot, value),
                    None => Deterministic::from(self.unify_operands(frame, left, right)),
                }
            }
            _ => Deterministic::from(self.unify_operands(frame, left, right)),
        })
    }

    /// Unifies the value of a reference with a term.
    fn det_reference(
        &mut self,
        frame: &Frame<'_>,
        reference: &Reference,
        other: &Operand,
    ) -> Result<Deterministic, Interrupt> {
        let mut ground = self.resolved_prefix(frame, reference, &reference.steps);
        if let ResolvedTerm::Rules(node, set, taken) = ground {
            if !self.memoize_sole_value(frame, node, set)? {
                return Ok(Deterministic::Many);
            }
            ground = self.after_rules(frame, set, reference, taken);
        }
        let value = match ground {
            ResolvedTerm::Value(value) => value,
            ResolvedTerm::Lent(value) => {
                if let Operand::Var(slot) = other
                    && self.slot(frame, *slot).is_none()
                {
                    return Ok(self.borrow(frame, *slot, value));
                }
                value
            }
            ResolvedTerm::Undefined => return Ok(Deterministic::Fails),
            ResolvedTerm::Rules(..) | ResolvedTerm::Unknown => return Ok(Deterministic::Many),
        };
        Ok(match other {
            Operand::Var(slot) => match self.slot(frame, *slot) {
                Some(bound) => Deterministic::from(self.equal(bound, value)),
                None => {
                    let value = value.clone();
                    self.bind(frame, *slot, value)
                }
            },
            Operand::Known(known) => Deterministic::from(self.equal(known, value)),
            Operand::Reference(other) => match self.resolved_prefix(frame, other, &other.steps) {
                ResolvedTerm::Value(other) | ResolvedTerm::Lent(other) => {
                    Deterministic::from(self.equal(value, other))
                }
                ResolvedTerm::Undefined => Deterministic::Fails,
                ResolvedTerm::Rules(..) | ResolvedTerm::Unknown => Deterministic::Many,
            },
            Operand::Comprehension(_) => Deterministic::Many,
            Operand::Array(_) | Operand::Object(_) | Operand::Set(_) => {
                let value = value.clone();
                Deterministic::from(self.matches(frame, &value, other))
            }
        })
    }

    /// Unifies the value of a comprehension with a term.
    fn det_comprehension(
        &mut self,
        frame: &Frame<'_>,
        comprehension: &Comprehension,
        other: &Operand,
    ) -> Result<Deterministic, Interrupt> {
        let value = self.comprehension(frame, comprehension)?;
        Ok(self.det_unify(frame, value, other))
    }

    /// Calls a built-in function.
    fn det_builtin(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        call: &BuiltinCall,
    ) -> Result<Deterministic, Interrupt> {
        let builtin = call.builtin;
        let output = call.args.get(builtin.arity);
        let is_simple = !builtin.has_many()
            && !matches!(
                output,
                Some(Operand::Reference(_) | Operand::Comprehension(_))
            );
        if !is_simple || !self.mocks.is_empty() {
            return Ok(Deterministic::Many);
        }
        if let Some(small) = self.fast_path(frame, builtin, &call.args) {
            return Ok(self.det_fast_path(frame, small, output));
        }
        let args = call.args.get(..builtin.arity).unwrap_or(&call.args);
        let result = self.computed(frame, expr, builtin, args)?;
        Ok(match (result, output) {
            (None, _) => Deterministic::Fails,
            (Some(_), _) if builtin.void => Deterministic::Holds,
            (Some(value), output) => self.det_output(frame, value, output),
        })
    }

    fn det_fast_path(
        &mut self,
        frame: &Frame<'_>,
        small: SmallResult,
        output: Option<&Operand>,
    ) -> Deterministic {
        match (output, small) {
            (None, small) => Deterministic::from(small != SmallResult::Bool(false)),
            (Some(Operand::Var(slot)), small) if self.slot(frame, *slot).is_none() => {
                let place = frame.base + slot;
                match small {
                    SmallResult::Bool(value) => self.set(place, Value::Bool(value)),
                    SmallResult::Integer(value) => {
                        self.set(place, Value::Number(Number::from(value)))
                    }
                }
                self.trail.push(place);
                Deterministic::Holds
            }
            (Some(output), small) => {
                Deterministic::from(self.matches(frame, &Value::from(small), output))
            }
        }
    }

    /// Calls a function of the policy.
    fn det_function(
        &mut self,
        frame: &Frame<'_>,
        call: &FunctionCall,
    ) -> Result<Deterministic, Interrupt> {
        let is_closed =
            |arg: &Operand| matches!(arg, Operand::Reference(_) | Operand::Comprehension(_));
        if call.args.last().is_some_and(is_closed) {
            return Ok(Deterministic::Many);
        }
        Ok(match self.call_value(frame, call)? {
            CallOutcome::Open => Deterministic::Many,
            CallOutcome::Undefined => Deterministic::Fails,
            CallOutcome::Value(value, arity) => self.det_output(frame, value, call.args.get(arity)),
        })
    }

    /// Unifies the result of a call with its output; without an output, tests that it is not
    /// `false`.
    fn det_output(
        &mut self,
        frame: &Frame<'_>,
        value: Value,
        output: Option<&Operand>,
    ) -> Deterministic {
        match output {
            Some(output) => self.det_unify(frame, value, output),
            None => Deterministic::from(value != Value::Bool(false)),
        }
    }

    /// Unifies a value with a term that is neither a reference nor a comprehension.
    fn det_unify(&mut self, frame: &Frame<'_>, value: Value, operand: &Operand) -> Deterministic {
        match operand {
            Operand::Var(slot) if self.slot(frame, *slot).is_none() => {
                self.bind(frame, *slot, value)
            }
            _ => Deterministic::from(self.matches(frame, &value, operand)),
        }
    }

    /// Binds a variable until the body is left.
    fn bind(&mut self, frame: &Frame<'_>, slot: Slot, value: Value) -> Deterministic {
        let place = frame.base + slot;
        self.set(place, value);
        self.trail.push(place);
        Deterministic::Holds
    }

    /// Binds a variable to a part of the base documents until the body is left.
    fn borrow(&mut self, frame: &Frame<'_>, slot: Slot, value: &'p Value) -> Deterministic {
        let place = frame.base + slot;
        self.borrow_into(place, value);
        self.trail.push(place);
        Deterministic::Holds
    }

    /// Resolves a term as far as possible without evaluation.
    pub(super) fn ground<'g>(
        &'g self,
        frame: &Frame<'_>,
        operand: &'g Operand,
    ) -> ResolvedTerm<'g, 'p> {
        match operand {
            Operand::Known(value) => ResolvedTerm::Value(value),
            Operand::Var(slot) => self
                .slot(frame, *slot)
                .map_or(ResolvedTerm::Unknown, ResolvedTerm::Value),
            Operand::Reference(reference) => {
                self.resolved_prefix(frame, reference, &reference.steps)
            }
            _ => ResolvedTerm::Unknown,
        }
    }

    /// Resolves `steps`, each of which must be a single key, up to the first unevaluated rules.
    /// `steps` are all steps of the reference, or all but a last one that is not fixed.
    pub(super) fn resolved_prefix<'g>(
        &'g self,
        frame: &Frame<'_>,
        reference: &'g Reference,
        steps: &'g [Step],
    ) -> ResolvedTerm<'g, 'p> {
        let mut rest = steps.iter();
        let value = match &reference.root {
            Root::Input => match &self.input {
                Binding::Owned(input) => input,
                Binding::Borrowed(input) => {
                    return self.borrowed(frame, input, reference, steps, false);
                }
                Binding::Unbound => return ResolvedTerm::Undefined,
            },
            Root::Term(Operand::Known(value)) => value,
            Root::Term(Operand::Var(slot)) => match self.slots.get(frame.base + slot) {
                Some(Binding::Owned(value)) => value,
                Some(Binding::Borrowed(value)) => {
                    return self.below(frame, value, steps, false).borrowed();
                }
                Some(Binding::Unbound) | None => return ResolvedTerm::Unknown,
            },
            Root::Term(_) => return ResolvedTerm::Unknown,
            Root::Data => {
                if self.overlay.is_some() || !self.replaced.is_empty() {
                    return ResolvedTerm::Unknown;
                }
                if self.seen.get(reference).is_some() {
                    return self.borrowed(frame, self.documents, reference, steps, true);
                }
                let policy = self.policy;
                let mut node = policy.module_set().root();
                loop {
                    let Some(key) = rest.next().and_then(|step| self.name(frame, step)) else {
                        return ResolvedTerm::Unknown;
                    };
                    match node.child(key) {
                        // Not cached, because other keys of this reference may lead to rules.
                        None if steps.len() - rest.len() > reference.fixed => {
                            return self.below(frame, self.documents, steps, true).borrowed();
                        }
                        None => {
                            return self.borrowed(frame, self.documents, reference, steps, true);
                        }
                        Some(child) => node = child,
                    }
                    if let Some(set) = &node.rules {
                        match self.memos.complete(set) {
                            Some(Some(known)) => break known,
                            Some(None) => return ResolvedTerm::Undefined,
                            None => match self.unconditional(set) {
                                Some(value) => {
                                    return self
                                        .below(frame, value, rest.as_slice(), false)
                                        .borrowed();
                                }
                                None => {
                                    let taken = steps.len() - rest.len();
                                    return ResolvedTerm::Rules(node, set, taken);
                                }
                            },
                        }
                    }
                }
            }
        };
        self.below(frame, value, rest.as_slice(), false)
    }

    /// Resolves the steps of a reference in a value that outlives the evaluation.
    #[inline]
    fn borrowed(
        &self,
        frame: &Frame<'_>,
        value: &'p Value,
        reference: &Reference,
        steps: &[Step],
        in_store: bool,
    ) -> ResolvedTerm<'p, 'p> {
        let known = match self.seen.get(reference) {
            Some(known) => known,
            None => match self.below(frame, value, reference.fixed(), in_store) {
                ResolvedTerm::Value(found) => {
                    self.seen.put(reference, found);
                    found
                }
                other => return other,
            },
        };
        match steps.get(reference.fixed..) {
            None | Some([]) => ResolvedTerm::Lent(known),
            Some(rest) => self.below(frame, known, rest, in_store).borrowed(),
        }
    }

    /// Resolves the rest of a reference after evaluated rules, reached after `taken` steps.
    pub(super) fn after_rules<'g>(
        &'g self,
        frame: &Frame<'_>,
        set: &RuleSet,
        reference: &'g Reference,
        taken: usize,
    ) -> ResolvedTerm<'g, 'p> {
        let steps = reference.steps.get(taken..).unwrap_or_default();
        match self.memos.complete(set) {
            Some(Some(value)) => self.below(frame, value, steps, false),
            Some(None) => ResolvedTerm::Undefined,
            None => ResolvedTerm::Unknown,
        }
    }

    /// Resolves steps in a value.
    #[inline]
    fn below<'v>(
        &self,
        frame: &Frame<'_>,
        mut value: &'v Value,
        steps: &[Step],
        in_store: bool,
    ) -> ResolvedTerm<'v, 'p> {
        for step in steps {
            let Some(key) = self.name(frame, step) else {
                return ResolvedTerm::Unknown;
            };
            if !self.meter.admits(key) {
                return ResolvedTerm::Undefined;
            }
            let found = match in_store {
                true => stored(value, key),
                false => member(value, key),
            };
            match found {
                Some(found) => value = found,
                None => return ResolvedTerm::Undefined,
            }
        }
        ResolvedTerm::Value(value)
    }

    /// Returns the key of a step, if it is known and not a collection.
    fn name<'g>(&'g self, frame: &Frame<'_>, step: &'g Step) -> Option<&'g Value> {
        let key = match step {
            Step::One(Operand::Known(key)) => key,
            Step::One(Operand::Var(slot)) => self.slot(frame, *slot)?,
            _ => return None,
        };
        (!key.is_composite()).then_some(key)
    }
}
