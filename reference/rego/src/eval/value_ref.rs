//! Resolution of references into values.

use super::machine::{Continuation, Flow, Frame, Machine, PendingExits};
use crate::Value;
use crate::ir::{Operand, Reference, Root, Step};
use crate::value::Number;

/// Continuation for each value of a reference.
pub(super) type OnValue<'e, 'p> = &'e mut (dyn FnMut(&mut Machine<'p>, &Value) -> Flow + 'e);

/// Remaining steps of a reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk<'w> {
    /// The steps.
    pub(super) steps: &'w [Step],
    /// Term that the values are unified with. If it is known, sets need not be searched.
    pub(super) target: Option<&'w Operand>,
    /// Whether the steps are followed in stored base documents, where numbers select members by
    /// their text.
    pub(super) stored: bool,
}

impl<'w> Walk<'w> {
    /// Returns the first step, and the walk after it.
    pub(super) fn split(self) -> Option<(&'w Step, Self)> {
        let (first, steps) = self.steps.split_first()?;
        Some((first, Self { steps, ..self }))
    }

    /// Returns the walk after this number of steps.
    pub(super) fn skip(self, count: usize) -> Self {
        let steps = self.steps.get(count..).unwrap_or_default();
        Self { steps, ..self }
    }
}

impl<'p> Machine<'p> {
    /// Unifies each value of a reference with a term.
    pub(super) fn reference(
        &mut self,
        frame: &Frame<'_>,
        reference: &Reference,
        target: &Operand,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let walk = Walk {
            steps: &reference.steps,
            target: Some(target),
            stored: false,
        };
        self.values(frame, reference, walk, &mut |machine, value| {
            machine.accept(frame, value, target, next)
        })
    }

    /// Visits each value of a reference.
    pub(super) fn values(
        &mut self,
        frame: &Frame<'_>,
        reference: &Reference,
        walk: Walk<'_>,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let root = match &reference.root {
            Root::Data => return self.documents(frame, walk, each),
            Root::Input => self.input.get().cloned(),
            Root::Term(operand) => self.value(frame, operand),
        };
        match root {
            Some(value) => self.walk(frame, walk, &value, each),
            None => Ok(()),
        }
    }

    /// Follows the steps into a value, and visits each value that they reach.
    pub(super) fn walk(
        &mut self,
        frame: &Frame<'_>,
        mut walk: Walk<'_>,
        value: &Value,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let mut value = value;
        while let Some((step, rest)) = walk.split() {
            let found = match step {
                Step::One(Operand::Known(key)) => self.find(walk, value, key),
                Step::One(Operand::Var(slot)) => match self.slot(frame, *slot) {
                    Some(key) => self.find(walk, value, key),
                    None => return self.members(frame, step, rest, value, each),
                },
                Step::One(operand) => match self.value(frame, operand) {
                    Some(key) => self.find(walk, value, &key),
                    None => return self.members(frame, step, rest, value, each),
                },
                Step::Any(_) => return self.members(frame, step, rest, value, each),
            };
            match found {
                Some(found) => value = found,
                None => return Ok(()),
            }
            walk = rest;
        }
        each(self, value)
    }

    /// Returns the member with a key.
    #[inline]
    fn find<'v>(&self, walk: Walk<'_>, value: &'v Value, key: &Value) -> Option<&'v Value> {
        if !self.meter.admits(key) {
            return None;
        }
        if walk.stored {
            stored(value, key)
        } else {
            member(value, key)
        }
    }

    /// Follows the step to each matching member, then the remaining steps.
    fn members(
        &mut self,
        frame: &Frame<'_>,
        step: &Step,
        rest: Walk<'_>,
        value: &Value,
        each: OnValue<'_, 'p>,
    ) -> Flow {
        let mut deferred = PendingExits::default();
        let places = self.places(frame, step, rest, value)?;
        match value {
            Value::Array(items) if let Some(places) = places => {
                for (_, place) in places {
                    let key = || Value::Number(Number::from(u64::from(*place)));
                    let Some(item) = items.get(*place as usize) else {
                        continue;
                    };
                    let flow = self.step(frame, step, key, &mut |machine| {
                        machine.walk(frame, rest, item, each)
                    });
                    deferred.defer(frame.find_one, flow)?;
                }
            }
            Value::Object(members) if let Some(places) = places => {
                for (_, place) in places {
                    let Some((key, item)) = members.nth(*place as usize) else {
                        continue;
                    };
                    let flow = self.step(frame, step, || key.clone(), &mut |machine| {
                        machine.walk(frame, rest, item, each)
                    });
                    deferred.defer(frame.find_one, flow)?;
                }
            }
            Value::Array(items) if matches!(step, Step::Any(_) | Step::One(Operand::Var(_))) => {
                for (index, item) in items.iter().enumerate() {
                    let key = || Value::Number(Number::from(index as u64));
                    let flow = self.step(frame, step, key, &mut |machine| {
                        machine.walk(frame, rest, item, each)
                    });
                    deferred.defer(frame.find_one, flow)?;
                }
            }
            Value::Object(members) => {
                for (key, item) in members.iter() {
                    let flow = self.step(frame, step, || key.clone(), &mut |machine| {
                        machine.walk(frame, rest, item, each)
                    });
                    deferred.defer(frame.find_one, flow)?;
                }
            }
            Value::Set(members) => {
                // A known value only needs a membership test.
                let member = match rest.target {
                    Some(target) if rest.steps.is_empty() => self.value(frame, target),
                    _ => None,
                };
                if let Some(member) = member {
                    if !self.meter.admits(&member) {
                        return self.tick();
                    }
                    if !members.contains(&member) {
                        return Ok(());
                    }
                    let flow = self.step(frame, step, || member.clone(), &mut |machine| {
                        machine.walk(frame, rest, &member, each)
                    });
                    deferred.defer(frame.find_one, flow)?;
                    return deferred.propagate();
                }
                for item in members.iter() {
                    let flow = self.step(frame, step, || item.clone(), &mut |machine| {
                        machine.walk(frame, rest, item, each)
                    });
                    deferred.defer(frame.find_one, flow)?;
                }
            }
            _ => {}
        }
        deferred.propagate()
    }

    /// Unifies the key of a member with a step.
    pub(super) fn step(
        &mut self,
        frame: &Frame<'_>,
        step: &Step,
        key: impl FnOnce() -> Value,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        self.tick()?;
        match step {
            Step::Any(_) if !self.watched() => next(self),
            Step::Any(slot) => self.accept(frame, &key(), &Operand::Var(*slot), next),
            Step::One(operand) => self.accept(frame, &key(), operand, next),
        }
    }

    /// Returns the key of a step, if it is known.
    pub(super) fn key(&self, frame: &Frame<'_>, step: &Step) -> Option<Value> {
        match step {
            Step::Any(_) => None,
            Step::One(operand) => self.value(frame, operand),
        }
    }
}

/// Returns the member of a collection with a key.
pub(crate) fn member<'v>(value: &'v Value, key: &Value) -> Option<&'v Value> {
    match (value, key) {
        (Value::Object(members), Value::String(name)) => members.get(name),
        (Value::Object(members), _) => members.get_value(key),
        (Value::Array(items), Value::Number(number)) => items.get(position(number)?),
        (Value::Set(members), _) => members.get(key),
        _ => None,
    }
}

/// Returns the member of a base document with a key. The store has only string keys, so a number is
/// looked up by its text.
pub(crate) fn stored<'v>(value: &'v Value, key: &Value) -> Option<&'v Value> {
    match (value, key) {
        (Value::Object(members), Value::Number(number)) => {
            members.get(&number.text()).or_else(|| member(value, key))
        }
        (Value::Array(items), Value::String(text)) => items.get(text.parse::<usize>().ok()?),
        _ => member(value, key),
    }
}

/// Returns the array index that a number denotes.
fn position(number: &Number) -> Option<usize> {
    usize::try_from(number.as_whole()?).ok()
}
