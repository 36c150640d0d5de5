//! Unification of terms.

use super::machine::{Continuation, Flow, Frame, Machine};
use crate::Value;
use crate::ir::Operand;

impl<'p> Machine<'p> {
    /// Unifies two terms, and calls the continuation for each way to make them equal.
    pub(super) fn unify(
        &mut self,
        frame: &Frame<'_>,
        left: &Operand,
        right: &Operand,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        match (left, right) {
            (Operand::Reference(reference), other) | (other, Operand::Reference(reference)) => {
                if self.watched() {
                    self.trace_unify(frame, left, right);
                }
                self.reference(frame, reference, other, next)
            }
            (Operand::Comprehension(comprehension), other)
            | (other, Operand::Comprehension(comprehension)) => {
                if self.watched() {
                    self.trace_unify(frame, left, right);
                }
                let value = self.comprehension(frame, comprehension)?;
                self.accept(frame, &value, other, next)
            }
            (Operand::Var(slot), other) | (other, Operand::Var(slot))
                if !self.watched() && self.slot(frame, *slot).is_none() =>
            {
                match self.value(frame, other) {
                    Some(value) => self.bound(frame, *slot, value, next),
                    None => self.if_unified(frame, left, right, next),
                }
            }
            _ => self.if_unified(frame, left, right, next),
        }
    }

    /// Unifies a value with a term, and calls the continuation for each way to make them equal.
    pub(super) fn accept(
        &mut self,
        frame: &Frame<'_>,
        value: &Value,
        operand: &Operand,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        match operand {
            Operand::Reference(reference) => {
                if self.watched() {
                    self.trace_accept(frame, value, operand);
                }
                self.reference(frame, reference, &Operand::Known(value.clone()), next)
            }
            Operand::Comprehension(comprehension) => {
                if self.watched() {
                    self.trace_accept(frame, value, operand);
                }
                // A scalar never equals a comprehension, which then is not evaluated.
                if matches!(value, Value::Array(_) | Value::Object(_) | Value::Set(_)) {
                    let collection = self.comprehension(frame, comprehension)?;
                    if self.equal(&collection, value) {
                        return next(self);
                    }
                }
                Ok(())
            }
            Operand::Var(slot) if !self.watched() => match self.slot(frame, *slot) {
                Some(bound) if self.equal(bound, value) => next(self),
                Some(_) => Ok(()),
                None => self.bound(frame, *slot, value.clone(), next),
            },
            _ => {
                let mark = self.trail.len();
                let flow = if self.matches(frame, value, operand) {
                    next(self)
                } else {
                    Ok(())
                };
                self.undo(mark);
                flow
            }
        }
    }

    fn if_unified(
        &mut self,
        frame: &Frame<'_>,
        left: &Operand,
        right: &Operand,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let mark = self.trail.len();
        let flow = match self.unify_operands(frame, left, right) {
            true => next(self),
            false => Ok(()),
        };
        self.undo(mark);
        flow
    }

    /// Whether two terms can be unified. New bindings are on the trail.
    pub(super) fn unify_operands(
        &mut self,
        frame: &Frame<'_>,
        left: &Operand,
        right: &Operand,
    ) -> bool {
        let mut open = Vec::new();
        let mut equal = self.equate(frame, left, right, &mut open);
        // Variables of unbound pairs may be bound by another part of the terms.
        while equal && !open.is_empty() {
            let before = open.len();
            let pairs = std::mem::take(&mut open);
            equal = pairs
                .iter()
                .all(|(left, right)| self.equate(frame, left, right, &mut open));
            if open.len() == before {
                equal = false;
            }
        }
        equal
    }

    /// Binds unbound variables so that the terms are equal; new bindings are on the trail. Pairs in
    /// which neither side has a value yet remain open.
    fn equate<'o>(
        &mut self,
        frame: &Frame<'_>,
        left: &'o Operand,
        right: &'o Operand,
        open: &mut Vec<(&'o Operand, &'o Operand)>,
    ) -> bool {
        if let Some(value) = self.value(frame, left) {
            return self.matches(frame, &value, right);
        }
        if let Some(value) = self.value(frame, right) {
            return self.matches(frame, &value, left);
        }
        if self.watched() {
            self.trace_unify(frame, left, right);
        }
        match (left, right) {
            (Operand::Array(left), Operand::Array(right)) => {
                left.len() == right.len()
                    && left
                        .iter()
                        .zip(right)
                        .all(|(l, r)| self.equate(frame, l, r, open))
            }
            (Operand::Object(left), Operand::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(key, value)| {
                        let key = self.value(frame, key);
                        let other = right
                            .iter()
                            .find(|(other, _)| key.is_some() && self.value(frame, other) == key);
                        other.is_some_and(|(_, other)| self.equate(frame, value, other, open))
                    })
            }
            (Operand::Var(_), _) | (_, Operand::Var(_)) => {
                open.push((left, right));
                true
            }
            _ => false,
        }
    }

    /// Whether a value matches a term. Unbound variables of the term are bound, and recorded on the
    /// trail.
    pub(super) fn matches(&mut self, frame: &Frame<'_>, value: &Value, operand: &Operand) -> bool {
        if self.watched() {
            self.trace_accept(frame, value, operand);
        }
        match (operand, value) {
            (Operand::Known(known), _) => self.equal(known, value),
            (Operand::Var(slot), _) => match self.slot(frame, *slot) {
                Some(bound) => self.equal(bound, value),
                None => {
                    let place = frame.base + slot;
                    self.set(place, value.clone());
                    self.trail.push(place);
                    true
                }
            },
            (Operand::Array(items), Value::Array(values)) => {
                items.len() == values.len()
                    && items
                        .iter()
                        .zip(values.iter())
                        .all(|(o, v)| self.matches(frame, v, o))
            }
            (Operand::Object(members), Value::Object(values)) => {
                members.len() == values.len()
                    && members.iter().all(|(key, member)| {
                        let key = self.value(frame, key);
                        let key = key.filter(|key| self.meter.admits(key));
                        let found = key.and_then(|key| values.get_value(&key).cloned());
                        found.is_some_and(|found| self.matches(frame, &found, member))
                    })
            }
            (Operand::Set(_), Value::Set(_)) => {
                let own = self.value(frame, operand);
                own.is_some_and(|own| self.equal(&own, value))
            }
            _ => false,
        }
    }
}
