//! Iteration over a collection, such as `some g in data.grants`: a loop over the items that
//! evaluates the rest of the body for each.

use super::binding::Binding;
use super::deterministic::ResolvedTerm;
use super::indexed_scan::Conditions;
use super::machine::{
    Continuation, Flow, Frame, Machine, PendingExits, STACK_RESERVE, STACK_SEGMENT,
};
use super::value_ref::Walk;
use crate::Value;
use crate::ir::{Expr, Kind, Operand, Reference, Slot, Step};
use crate::value::Number;

/// Iteration that an expression describes.
struct Items<'x> {
    /// The step that selects the items.
    step: &'x Step,
    /// Variable to which each item is bound.
    item: &'x Operand,
    /// Slots of the variables of the index or key, if it has one, and of the item.
    places: (Option<usize>, usize),
}

impl<'p> Machine<'p> {
    /// Iterates over the items, if the expression is only an iteration; `None` otherwise.
    pub(super) fn items(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        next: Continuation<'_, 'p>,
    ) -> Option<Flow> {
        if self.watched() || expr.negated || !expr.with.is_empty() {
            return None;
        }
        let (Kind::Unify(item @ Operand::Var(slot), Operand::Reference(reference))
        | Kind::Unify(Operand::Reference(reference), item @ Operand::Var(slot))) = &expr.kind
        else {
            return None;
        };
        let (step, key) = self.open_step(frame, reference, *slot)?;
        let above = reference.steps.len().saturating_sub(1);
        let steps = reference.steps.get(..above)?;
        let list = match self.resolved_prefix(frame, reference, steps) {
            ResolvedTerm::Value(list) => Binding::Owned(list.clone()),
            ResolvedTerm::Lent(list) => Binding::Borrowed(list),
            ResolvedTerm::Undefined => return Some(Ok(())),
            ResolvedTerm::Rules(..) | ResolvedTerm::Unknown => return None,
        };
        let place = frame.base + slot;
        let key = key.map(|slot| frame.base + slot);
        self.trail.extend(key);
        self.trail.push(place);
        let items = Items {
            step,
            item,
            places: (key, place),
        };
        let each = || match &list {
            Binding::Borrowed(list) => self.each_item(frame, list, &items, next, Self::borrow_into),
            Binding::Owned(list) => self.each_item(frame, list, &items, next, Self::copy_to_slot),
            Binding::Unbound => Ok(()),
        };
        Some(stacker::maybe_grow(STACK_RESERVE, STACK_SEGMENT, each))
    }

    /// Returns the last step of a reference if it matches all items, and the variable of the step,
    /// if it has one. That variable and the variable of the items must be unbound.
    fn open_step<'r>(
        &self,
        frame: &Frame<'_>,
        reference: &'r Reference,
        item: Slot,
    ) -> Option<(&'r Step, Option<Slot>)> {
        let is_open = |slot: Slot| self.slot(frame, slot).is_none();
        if !is_open(item) {
            return None;
        }
        let step = reference.steps.last()?;
        match step {
            Step::Any(_) => Some((step, None)),
            Step::One(Operand::Var(key)) if *key != item && is_open(*key) => {
                Some((step, Some(*key)))
            }
            Step::One(_) => None,
        }
    }

    fn each_item<'v>(
        &mut self,
        frame: &Frame<'_>,
        list: &'v Value,
        items: &Items<'_>,
        next: Continuation<'_, 'p>,
        set_slot: impl Fn(&mut Self, usize, &'v Value),
    ) -> Flow {
        let rest = Walk {
            steps: &[],
            target: Some(items.item),
            stored: false,
        };
        let found = self.places(frame, items.step, rest, list)?;
        let conditions = match (&found, items.item) {
            (None, Operand::Var(slot)) => self.conditions(frame, *slot),
            _ => Conditions::default(),
        };
        let index = conditions.next_unsatisfied(frame.index.get());
        let mut deferred = PendingExits::default();
        let mut visit = |machine: &mut Self, key: &dyn Fn() -> Value, item: &'v Value| {
            machine.tick()?;
            if !machine.satisfies(&conditions, item) {
                return Ok(());
            }
            let (key_place, place) = items.places;
            if let Some(place) = key_place {
                machine.set(place, key());
            }
            set_slot(machine, place, item);
            let mark = machine.trail.len();
            frame.index.set(index);
            let flow = machine.run_body(frame, next);
            machine.undo(mark);
            deferred.defer(frame.find_one, flow)
        };
        let number = |index: usize| Value::Number(Number::from(index));
        match (list, found) {
            (Value::Array(items), Some(found)) => {
                for (_, place) in found {
                    let at = *place as usize;
                    if let Some(item) = items.get(at) {
                        visit(self, &|| number(at), item)?;
                    }
                }
            }
            (Value::Object(members), Some(found)) => {
                for (_, place) in found {
                    if let Some((key, item)) = members.nth(*place as usize) {
                        visit(self, &|| key.clone(), item)?;
                    }
                }
            }
            (Value::Array(items), None) => {
                for (at, item) in items.iter().enumerate() {
                    visit(self, &|| number(at), item)?;
                }
            }
            (Value::Object(members), None) => {
                for (key, item) in members.iter() {
                    visit(self, &|| key.clone(), item)?;
                }
            }
            (Value::Set(members), _) => {
                for item in members.iter() {
                    visit(self, &|| item.clone(), item)?;
                }
            }
            _ => {}
        }
        deferred.propagate()
    }
}
