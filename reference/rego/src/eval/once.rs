//! Expressions that have one solution at most and are found in place, so that a body goes on
//! behind them in a loop. What they bind stands on the trail until the body is left.
//!
//! What may have several solutions takes a continuation. So do rules and functions of the policy of
//! which several are asked, or which read such, because what remains is done between them, where
//! it may be noticed; and so does everything in a traced evaluation.

use super::functions::Settled;
use super::held::Held;
use super::ir::{
    BuiltinCall, Comprehension, Expr, FunctionCall, Kind, Operand, Reference, Root, Slot, Step,
};
use super::machine::{Frame, Machine, Stop};
use super::reference::{member, stored};
use crate::Value;
use crate::builtins::Small;
use crate::compile::tree::{Node, RuleSet};
use crate::value::Number;

/// What came of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Once {
    /// It has this one solution.
    Holds,
    /// It has none.
    Fails,
    /// It may have several, and nothing was done.
    Many,
}

/// What a term is without evaluation.
pub(super) enum Ground<'g, 'p> {
    Value(&'g Value),
    /// A part of the base documents, or of a constant of the policy.
    Lent(&'p Value),
    Undefined,
    /// It depends on these rules, to which so many steps lead.
    Rules(&'p Node, &'p RuleSet, usize),
    Unknown,
}

impl<'p> Ground<'p, 'p> {
    /// What was found in what outlives the evaluation.
    fn lent<'g>(self) -> Ground<'g, 'p> {
        match self {
            Self::Value(value) | Self::Lent(value) => Ground::Lent(value),
            Self::Undefined => Ground::Undefined,
            Self::Rules(node, set, taken) => Ground::Rules(node, set, taken),
            Self::Unknown => Ground::Unknown,
        }
    }
}

impl From<bool> for Once {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

impl<'p> Machine<'p> {
    /// Finds the solution of an expression that has one at most.
    pub(super) fn once(&mut self, frame: &Frame<'_>, expr: &Expr) -> Result<Once, Stop> {
        if self.watched() || !expr.with.is_empty() {
            return Ok(Once::Many);
        }
        if expr.negated {
            return Ok(Once::from(!self.has_solutions(frame, expr)?));
        }
        self.once_plain(frame, expr)
    }

    /// The same without a look at modifiers.
    pub(super) fn once_plain(&mut self, frame: &Frame<'_>, expr: &Expr) -> Result<Once, Stop> {
        Ok(match &expr.kind {
            Kind::Holds(operand) => match self.ground(frame, operand) {
                Ground::Value(value) | Ground::Lent(value) => {
                    Once::from(*value != Value::Bool(false))
                }
                Ground::Undefined => Once::Fails,
                Ground::Rules(node, set, _) => match self.settle(frame, node, set)? {
                    true => return self.once_plain(frame, expr),
                    false => Once::Many,
                },
                Ground::Unknown => Once::Many,
            },
            Kind::Unify(left, right) => return self.once_equal(frame, left, right),
            Kind::Builtin(call) => return self.once_called(frame, expr, call),
            Kind::Every(every) => match self.domain(frame, every) {
                Some(domain) => {
                    let child = frame.aside(self);
                    Once::from(self.holds_for_all(&child, expr, every, &domain)?)
                }
                None => Once::Fails,
            },
            Kind::Logic(connective, bodies) => {
                Once::from(self.connected(frame, *connective, bodies)?)
            }
            Kind::Function(call) => return self.once_function(frame, call),
        })
    }

    fn once_equal(
        &mut self,
        frame: &Frame<'_>,
        left: &Operand,
        right: &Operand,
    ) -> Result<Once, Stop> {
        Ok(match (left, right) {
            (Operand::Reference(reference), other) | (other, Operand::Reference(reference)) => {
                return self.once_found(frame, reference, other);
            }
            (Operand::Comprehension(_), Operand::Comprehension(_)) => Once::Many,
            (Operand::Comprehension(comprehension), other)
            | (other, Operand::Comprehension(comprehension)) => {
                return self.once_made(frame, comprehension, other);
            }
            (Operand::Var(slot), other) | (other, Operand::Var(slot))
                if self.slot(frame, *slot).is_none() =>
            {
                match self.value(frame, other) {
                    Some(value) => self.bind(frame, *slot, value),
                    None => Once::from(self.equates(frame, left, right)),
                }
            }
            _ => Once::from(self.equates(frame, left, right)),
        })
    }

    /// Unifies what a reference leads to with a term.
    fn once_found(
        &mut self,
        frame: &Frame<'_>,
        reference: &Reference,
        other: &Operand,
    ) -> Result<Once, Stop> {
        let mut ground = self.led_to(frame, reference, &reference.steps);
        if let Ground::Rules(node, set, taken) = ground {
            if !self.settle(frame, node, set)? {
                return Ok(Once::Many);
            }
            ground = self.behind(frame, set, reference, taken);
        }
        let value = match ground {
            Ground::Value(value) => value,
            Ground::Lent(value) => {
                if let Operand::Var(slot) = other
                    && self.slot(frame, *slot).is_none()
                {
                    return Ok(self.borrow(frame, *slot, value));
                }
                value
            }
            Ground::Undefined => return Ok(Once::Fails),
            Ground::Rules(..) | Ground::Unknown => return Ok(Once::Many),
        };
        Ok(match other {
            Operand::Var(slot) => match self.slot(frame, *slot) {
                Some(bound) => Once::from(self.equal(bound, value)),
                None => {
                    let value = value.clone();
                    self.bind(frame, *slot, value)
                }
            },
            Operand::Known(known) => Once::from(self.equal(known, value)),
            Operand::Reference(other) => match self.led_to(frame, other, &other.steps) {
                Ground::Value(other) | Ground::Lent(other) => Once::from(self.equal(value, other)),
                Ground::Undefined => Once::Fails,
                Ground::Rules(..) | Ground::Unknown => Once::Many,
            },
            Operand::Comprehension(_) => Once::Many,
            Operand::Array(_) | Operand::Object(_) | Operand::Set(_) => {
                let value = value.clone();
                Once::from(self.matches(frame, &value, other))
            }
        })
    }

    /// Unifies what a comprehension makes with a term.
    fn once_made(
        &mut self,
        frame: &Frame<'_>,
        comprehension: &Comprehension,
        other: &Operand,
    ) -> Result<Once, Stop> {
        let value = self.comprehension(frame, comprehension)?;
        Ok(self.once_accepted(frame, value, other))
    }

    /// Calls a built-in function.
    fn once_called(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        call: &BuiltinCall,
    ) -> Result<Once, Stop> {
        let builtin = call.builtin;
        let output = call.args.get(builtin.arity);
        let is_simple = !builtin.has_many()
            && !matches!(
                output,
                Some(Operand::Reference(_) | Operand::Comprehension(_))
            );
        if !is_simple || !self.mocks.is_empty() {
            return Ok(Once::Many);
        }
        if let Some(small) = self.quickly(frame, builtin, &call.args) {
            return Ok(self.once_small(frame, small, output));
        }
        let args = call.args.get(..builtin.arity).unwrap_or(&call.args);
        let result = self.computed(frame, expr, builtin, args)?;
        Ok(match (result, output) {
            (None, _) => Once::Fails,
            (Some(_), _) if builtin.void => Once::Holds,
            (Some(value), output) => self.once_given(frame, value, output),
        })
    }

    fn once_small(&mut self, frame: &Frame<'_>, small: Small, output: Option<&Operand>) -> Once {
        match (output, small) {
            (None, small) => Once::from(small != Small::Bool(false)),
            (Some(Operand::Var(slot)), small) if self.slot(frame, *slot).is_none() => {
                let place = frame.base + slot;
                match small {
                    Small::Bool(value) => self.set(place, Value::Bool(value)),
                    Small::Integer(value) => self.set(place, Value::Number(Number::from(value))),
                }
                self.trail.push(place);
                Once::Holds
            }
            (Some(output), small) => Once::from(self.matches(frame, &Value::from(small), output)),
        }
    }

    /// Calls a function of the policy.
    fn once_function(&mut self, frame: &Frame<'_>, call: &FunctionCall) -> Result<Once, Stop> {
        let is_closed =
            |arg: &Operand| matches!(arg, Operand::Reference(_) | Operand::Comprehension(_));
        if call.args.last().is_some_and(is_closed) {
            return Ok(Once::Many);
        }
        Ok(match self.settle_call(frame, call)? {
            Settled::Open => Once::Many,
            Settled::Undefined => Once::Fails,
            Settled::Value(value, arity) => self.once_given(frame, value, call.args.get(arity)),
        })
    }

    /// Unifies the result of a call with its output, or tests it.
    fn once_given(&mut self, frame: &Frame<'_>, value: Value, output: Option<&Operand>) -> Once {
        match output {
            Some(output) => self.once_accepted(frame, value, output),
            None => Once::from(value != Value::Bool(false)),
        }
    }

    /// Unifies a value with a term that is no reference and no comprehension.
    fn once_accepted(&mut self, frame: &Frame<'_>, value: Value, operand: &Operand) -> Once {
        match operand {
            Operand::Var(slot) if self.slot(frame, *slot).is_none() => {
                self.bind(frame, *slot, value)
            }
            _ => Once::from(self.matches(frame, &value, operand)),
        }
    }

    /// Gives a variable a value until the body is left.
    fn bind(&mut self, frame: &Frame<'_>, slot: Slot, value: Value) -> Once {
        let place = frame.base + slot;
        self.set(place, value);
        self.trail.push(place);
        Once::Holds
    }

    /// Gives a variable a part of the base documents until the body is left.
    fn borrow(&mut self, frame: &Frame<'_>, slot: Slot, value: &'p Value) -> Once {
        let place = frame.base + slot;
        self.lend(place, value);
        self.trail.push(place);
        Once::Holds
    }

    /// What a term is, as far as that needs no evaluation.
    pub(super) fn ground<'g>(&'g self, frame: &Frame<'_>, operand: &'g Operand) -> Ground<'g, 'p> {
        match operand {
            Operand::Known(value) => Ground::Value(value),
            Operand::Var(own) => self
                .slot(frame, *own)
                .map_or(Ground::Unknown, Ground::Value),
            Operand::Reference(reference) => self.led_to(frame, reference, &reference.steps),
            _ => Ground::Unknown,
        }
    }

    /// Where the first steps of a reference lead, if it has one way and no rules are on it. These
    /// are all of its steps but, at most, a last one that is not fixed.
    pub(super) fn led_to<'g>(
        &'g self,
        frame: &Frame<'_>,
        reference: &'g Reference,
        steps: &'g [Step],
    ) -> Ground<'g, 'p> {
        let mut rest = steps.iter();
        let value = match &reference.root {
            Root::Input => match &self.input {
                Held::Own(input) => input,
                Held::Lent(input) => return self.lent(frame, input, reference, steps, false),
                Held::Nothing => return Ground::Undefined,
            },
            Root::Term(Operand::Known(value)) => value,
            Root::Term(Operand::Var(own)) => match self.slots.get(frame.base + own) {
                Some(Held::Own(value)) => value,
                Some(Held::Lent(value)) => return self.below(frame, value, steps, false).lent(),
                Some(Held::Nothing) | None => return Ground::Unknown,
            },
            Root::Term(_) => return Ground::Unknown,
            Root::Data => {
                if self.overlay.is_some() || !self.replaced.is_empty() {
                    return Ground::Unknown;
                }
                if self.seen.get(reference).is_some() {
                    return self.lent(frame, self.documents, reference, steps, true);
                }
                let policy = self.policy;
                let mut node = policy.world().root();
                loop {
                    let Some(key) = rest.next().and_then(|step| self.name(frame, step)) else {
                        return Ground::Unknown;
                    };
                    match node.child(key) {
                        // What one key has no rules for, another may.
                        None if steps.len() - rest.len() > reference.fixed => {
                            return self.below(frame, self.documents, steps, true).lent();
                        }
                        None => return self.lent(frame, self.documents, reference, steps, true),
                        Some(child) => node = child,
                    }
                    if let Some(set) = &node.rules {
                        match self.memos.complete(set) {
                            Some(Some(known)) => break known,
                            Some(None) => return Ground::Undefined,
                            None => match self.unconditional(set) {
                                Some(value) => {
                                    return self.below(frame, value, rest.as_slice(), false).lent();
                                }
                                None => {
                                    let taken = steps.len() - rest.len();
                                    return Ground::Rules(node, set, taken);
                                }
                            },
                        }
                    }
                }
            }
        };
        self.below(frame, value, rest.as_slice(), false)
    }

    /// Where the steps of a reference lead in what outlives the evaluation.
    #[inline]
    fn lent(
        &self,
        frame: &Frame<'_>,
        value: &'p Value,
        reference: &Reference,
        steps: &[Step],
        in_store: bool,
    ) -> Ground<'p, 'p> {
        let known = match self.seen.get(reference) {
            Some(known) => known,
            None => match self.below(frame, value, reference.fixed(), in_store) {
                Ground::Value(found) => {
                    self.seen.put(reference, found);
                    found
                }
                other => return other,
            },
        };
        match steps.get(reference.fixed..) {
            None | Some([]) => Ground::Lent(known),
            Some(behind) => self.below(frame, known, behind, in_store).lent(),
        }
    }

    /// Where a reference leads behind rules that have been evaluated, to which so many steps lead.
    pub(super) fn behind<'g>(
        &'g self,
        frame: &Frame<'_>,
        set: &RuleSet,
        reference: &'g Reference,
        taken: usize,
    ) -> Ground<'g, 'p> {
        let steps = reference.steps.get(taken..).unwrap_or_default();
        match self.memos.complete(set) {
            Some(Some(value)) => self.below(frame, value, steps, false),
            Some(None) => Ground::Undefined,
            None => Ground::Unknown,
        }
    }

    /// Where steps lead from a value.
    #[inline]
    fn below<'v>(
        &self,
        frame: &Frame<'_>,
        mut value: &'v Value,
        steps: &[Step],
        in_store: bool,
    ) -> Ground<'v, 'p> {
        for step in steps {
            let Some(key) = self.name(frame, step) else {
                return Ground::Unknown;
            };
            if !self.meter.admits(key) {
                return Ground::Undefined;
            }
            let found = match in_store {
                true => stored(value, key),
                false => member(value, key),
            };
            match found {
                Some(found) => value = found,
                None => return Ground::Undefined,
            }
        }
        Ground::Value(value)
    }

    /// The key that a step is, if it is one and no collection.
    fn name<'g>(&'g self, frame: &Frame<'_>, step: &'g Step) -> Option<&'g Value> {
        let key = match step {
            Step::One(Operand::Known(key)) => key,
            Step::One(Operand::Var(own)) => self.slot(frame, *own)?,
            _ => return None,
        };
        (!key.is_composite()).then_some(key)
    }
}
