//! Evaluation of comprehensions.

use super::machine::{Frame, Interrupt, Machine};
use crate::Value;
use crate::error::EvalCode;
use crate::ir::{Collect, Comprehension, Operand};
use crate::meter::{AbortReason, LIGHT, Meter};
use crate::value::{Object, Set, distinct};

impl<'p> Machine<'p> {
    /// Returns the value of a comprehension.
    pub(super) fn comprehension(
        &mut self,
        frame: &Frame<'_>,
        comprehension: &Comprehension,
    ) -> Result<Value, Interrupt> {
        let child = frame.closure(self, &comprehension.body);
        match &comprehension.collect {
            Collect::Array(term) => {
                let mut items = Vec::new();
                self.collect(&child, term, &mut items)?;
                self.tick()?;
                Ok(Value::from(items))
            }
            Collect::Set(term) => {
                let mut members = Vec::new();
                self.collect(&child, term, &mut members)?;
                Ok(Value::from(self.distinct(members)?))
            }
            Collect::Object(key, value) => {
                let mut members = Object::new();
                self.run(&child, &mut |machine| {
                    let key = machine.value(&child, key);
                    let (Some(key), Some(value)) = (key, machine.value(&child, value)) else {
                        return Ok(());
                    };
                    machine.meter.make(3);
                    if !machine.meter.admits(&key) {
                        return machine.tick();
                    }
                    match members.get_value(&key) {
                        Some(earlier) if !machine.equal(earlier, &value) => {
                            let location = &comprehension.location;
                            let message = "object keys must be unique";
                            Err(Interrupt::failed_at(
                                &child,
                                EvalCode::Conflict,
                                location,
                                message,
                            ))
                        }
                        Some(_) => Ok(()),
                        None => {
                            members.insert(key, value);
                            Ok(())
                        }
                    }
                })?;
                Ok(Value::from(members))
            }
        }
    }

    fn collect(
        &mut self,
        child: &Frame<'_>,
        term: &Operand,
        all: &mut Vec<Value>,
    ) -> Result<(), Interrupt> {
        self.run(child, &mut |machine| {
            if let Some(value) = machine.borrow_value(child, term) {
                all.push(value.clone());
            } else if let Some(value) = machine.value(child, term) {
                all.push(value);
            } else {
                return Ok(());
            }
            machine.meter.make(1);
            Ok(())
        })
    }

    /// Returns the set of the collected values.
    fn distinct(&mut self, members: Vec<Value>) -> Result<Set, Interrupt> {
        let meter = &self.meter;
        // An inline evaluation sorts members only up to a limited total weight.
        if meter.is_inline() && !meter.admits_within(members.iter(), LIGHT) {
            return Err(Interrupt::aborted(AbortReason::NotInline));
        }
        meter.make(Meter::set(members.len()));
        self.tick()?;
        Ok(distinct(members))
    }
}
