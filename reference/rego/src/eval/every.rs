//! Evaluation of `every`.

use super::binding::Binding;
use super::machine::{Continuation, Flow, Frame, Interrupt, Machine, exit_query};
use super::trace::Subject;
use crate::Value;
use crate::ir::{Every, Expr, Operand};
use crate::trace::Op;
use crate::value::Number;

/// State shared by the visits of all members of a domain.
struct Visits<'v> {
    every: &'v Every,
    expr: &'v Expr,
    domain: &'v Frame<'v>,
    /// Whether the condition was satisfied for all members so far.
    all: bool,
}

impl<'p> Machine<'p> {
    /// Continues if a condition holds for every member of a collection.
    pub(super) fn every(
        &mut self,
        frame: &Frame<'_>,
        expr: &Expr,
        every: &Every,
        next: Continuation<'_, 'p>,
    ) -> Flow {
        let Some(domain) = self.domain(frame, every) else {
            if self.watched() {
                self.report(frame, Op::Fail, Subject::Expr(expr));
            }
            return Ok(());
        };
        let child = frame.sibling(self);
        if self.watched() {
            self.report(&child, Op::Enter, Subject::Expr(expr));
            self.report(&child, Op::Eval, Subject::Generator(every, expr));
        }
        if !self.holds_for_all(&child, expr, every, &domain)? {
            if self.watched() {
                self.report(&child, Op::Fail, Subject::Expr(expr));
            }
            return Ok(());
        }
        let flow = next(self);
        if self.watched() {
            self.report(&child, Op::Exit, Subject::Expr(expr));
        }
        flow
    }

    /// Returns the collection whose members an `every` visits.
    pub(super) fn domain(&self, frame: &Frame<'_>, every: &Every) -> Option<Binding<'p>> {
        let domain = match &every.domain {
            Operand::Var(slot) => self.slots.get(frame.base + slot)?.clone(),
            operand => Binding::Owned(self.value(frame, operand)?),
        };
        let is_composite = domain.get().is_some_and(Value::is_composite);
        is_composite.then_some(domain)
    }

    /// Whether the condition holds for all members.
    pub(super) fn holds_for_all(
        &mut self,
        child: &Frame<'_>,
        expr: &Expr,
        every: &Every,
        domain: &Binding<'p>,
    ) -> Result<bool, Interrupt> {
        let mut visits = Visits {
            every,
            expr,
            domain: child,
            all: true,
        };
        match domain {
            Binding::Borrowed(domain) => self.visit_all(&mut visits, domain, Self::borrow_into)?,
            Binding::Owned(domain) => self.visit_all(&mut visits, domain, Self::copy_to_slot)?,
            Binding::Unbound => {}
        }
        Ok(visits.all)
    }

    fn visit_all<'v>(
        &mut self,
        visits: &mut Visits<'_>,
        domain: &'v Value,
        set_slot: impl Fn(&mut Self, usize, &'v Value),
    ) -> Result<(), Interrupt> {
        let mut count = 0;
        match domain {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let key = || Value::Number(Number::from(index as u64));
                    count += usize::from(
                        self.visit(visits, key, |machine, place| set_slot(machine, place, item))?,
                    );
                }
            }
            Value::Object(members) => {
                for (key, item) in members.iter() {
                    count += usize::from(self.visit(
                        visits,
                        || key.clone(),
                        |machine, place| set_slot(machine, place, item),
                    )?);
                }
            }
            Value::Set(members) => {
                for item in members.iter() {
                    count += usize::from(self.visit(
                        visits,
                        || item.clone(),
                        |machine, place| set_slot(machine, place, item),
                    )?);
                }
            }
            _ => {}
        }
        if count == 0 && self.watched() {
            let subject = Subject::Generator(visits.every, visits.expr);
            self.report(visits.domain, Op::Fail, subject);
        }
        Ok(())
    }

    /// Evaluates the condition for one member, which `set_slot` stores in a slot. Always returns
    /// `true`, so that the iteration continues.
    fn visit(
        &mut self,
        visits: &mut Visits<'_>,
        key: impl FnOnce() -> Value,
        set_slot: impl FnOnce(&mut Self, usize),
    ) -> Result<bool, Interrupt> {
        self.tick()?;
        if !visits.all && !self.watched() {
            return Ok(true);
        }
        let (domain, every) = (visits.domain, visits.every);
        let place = domain.base + every.value;
        set_slot(self, place);
        let key_place = every.key.map(|slot| domain.base + slot);
        if let Some(place) = key_place {
            self.set(place, key());
        }
        let flow = self.condition(visits);
        if self.watched() {
            self.report(domain, Op::Redo, Subject::Generator(every, visits.expr));
        }
        self.clear(place);
        if let Some(place) = key_place {
            self.clear(place);
        }
        flow.map(|()| true)
    }

    fn condition(&mut self, visits: &mut Visits<'_>) -> Flow {
        if !visits.all {
            return Ok(());
        }
        let mut body = visits.domain.closure(self, &visits.every.body);
        body.find_one = true;
        let mut done = false;
        let flow = if self.watched() {
            self.report(&body, Op::Enter, Subject::Body);
            self.body(&body, &mut |machine| {
                machine.report(&body, Op::Exit, Subject::Body);
                machine.report(&body, Op::Redo, Subject::Body);
                done = true;
                Ok(())
            })
        } else {
            self.body(&body, &mut |_| {
                done = true;
                Ok(())
            })
        };
        visits.all = done;
        if self.watched() {
            self.report(visits.domain, Op::Redo, Subject::Expr(visits.expr));
        }
        exit_query(flow)
    }
}
