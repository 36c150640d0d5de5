//! Comprehensions.

use super::ir::{Collect, Comprehension, Operand};
use super::machine::{Frame, Machine, Stop};
use crate::Value;
use crate::error::EvalCode;
use crate::value::{Object, distinct};

impl<'p> Machine<'p> {
    /// The value of a comprehension.
    pub(super) fn comprehension(
        &mut self,
        frame: &Frame<'_>,
        comprehension: &Comprehension,
    ) -> Result<Value, Stop> {
        let child = frame.closure(self, &comprehension.body);
        match &comprehension.collect {
            Collect::Array(term) => {
                let mut items = Vec::new();
                self.collect(&child, term, &mut |item| items.push(item))?;
                Ok(Value::from(items))
            }
            Collect::Set(term) => {
                let mut members = Vec::new();
                self.collect(&child, term, &mut |member| members.push(member))?;
                Ok(Value::from(distinct(members)))
            }
            Collect::Object(key, value) => {
                let mut members = Object::new();
                self.run(&child, &mut |machine| {
                    let key = machine.value(&child, key);
                    let (Some(key), Some(value)) = (key, machine.value(&child, value)) else {
                        return Ok(());
                    };
                    match members.get_value(&key) {
                        Some(earlier) if *earlier != value => {
                            let location = &comprehension.location;
                            let message = "object keys must be unique";
                            Err(Stop::failed_at(
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
        take: &mut dyn FnMut(Value),
    ) -> Result<(), Stop> {
        self.run(child, &mut |machine| {
            if let Some(value) = machine.value(child, term) {
                take(value);
            }
            Ok(())
        })
    }
}
