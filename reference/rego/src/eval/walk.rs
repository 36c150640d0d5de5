//! The built-in function `walk`: all values in a document, with their paths.

use super::machine::{Continuation, Flow, Frame, Machine};
use super::value_ref::member;
use crate::Value;
use crate::ir::Operand;
use crate::value::Number;

/// Terms that the results of `walk` are unified with.
struct WalkFilter<'w> {
    /// Term for the pair of path and value, if it is not an array of two terms.
    pair: Option<&'w Operand>,
    /// Term for the path.
    path: Option<&'w Operand>,
    value: Option<&'w Operand>,
}

impl<'p> Machine<'p> {
    /// Visits every value in a document: first the document, then its members.
    pub(super) fn visit_tree(
        &mut self,
        frame: &Frame<'_>,
        document: &Value,
        output: Option<&Operand>,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let filter = match output {
            Some(Operand::Array(pair)) => match pair.as_slice() {
                [path, value] => WalkFilter {
                    pair: None,
                    path: Some(path).filter(|path| !self.is_wildcard(frame, path)),
                    value: Some(value),
                },
                _ => return Ok(()),
            },
            pair => WalkFilter {
                pair,
                path: None,
                value: None,
            },
        };
        let steps = match filter.path {
            Some(Operand::Array(steps)) => steps.as_slice(),
            _ => &[],
        };
        self.visit_below(frame, document, &filter, steps, &mut Vec::new(), next)
    }

    fn is_wildcard(&self, frame: &Frame<'_>, operand: &Operand) -> bool {
        let Operand::Var(slot) = operand else {
            return false;
        };
        !self.watched()
            && frame
                .program
                .names
                .get(*slot)
                .is_some_and(|name| name.is_wildcard())
    }

    /// Visits the value at a path and the values below. `steps` are the remaining expected steps.
    fn visit_below(
        &mut self,
        frame: &Frame<'_>,
        value: &Value,
        filter: &WalkFilter<'_>,
        steps: &[Operand],
        path: &mut Vec<Value>,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        self.tick()?;
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            let rest = match steps.split_first() {
                None => {
                    self.visited(frame, value, filter, path, next)?;
                    steps
                }
                Some((first, rest)) => {
                    if let Some(key) = self.value(frame, first) {
                        if !self.meter.admits(&key) {
                            return self.tick();
                        }
                        let Some(found) = member(value, &key) else {
                            return Ok(());
                        };
                        path.push(key);
                        let flow = self.visit_below(frame, found, filter, rest, path, next);
                        path.pop();
                        return flow;
                    }
                    rest
                }
            };
            let mut visit = |machine: &mut Self, key: Value, item: &Value| {
                path.push(key);
                let flow = machine.visit_below(frame, item, filter, rest, path, next);
                path.pop();
                flow
            };
            match value {
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        visit(self, Value::Number(Number::from(index as u64)), item)?;
                    }
                }
                Value::Object(members) => {
                    for (key, item) in members.iter() {
                        visit(self, key.clone(), item)?;
                    }
                }
                Value::Set(members) => {
                    for item in members.iter() {
                        visit(self, item.clone(), item)?;
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }

    fn visited(
        &mut self,
        frame: &Frame<'_>,
        value: &Value,
        filter: &WalkFilter<'_>,
        path: &[Value],
        next: Continuation<'_, 'p>,
    ) -> Flow {
        match (filter.value, filter.path, filter.pair) {
            (Some(operand), None, _) => self.accept(frame, value, operand, next),
            (Some(operand), Some(steps), _) => {
                self.meter.make(2 + path.len());
                let path = Value::from(path.to_vec());
                self.accept(frame, &path, steps, &mut |machine| {
                    machine.accept(frame, value, operand, next)
                })
            }
            (None, _, Some(pair)) => {
                self.meter.make(6 + path.len());
                let found = Value::from(vec![Value::from(path.to_vec()), value.clone()]);
                self.accept(frame, &found, pair, next)
            }
            (None, _, None) => next(self),
        }
    }
}
