//! Going through the items of a long list of which only few can matter, because something known is
//! asked of all of them: `some g in data.grants; g.user == input.user`, or `data.xs[_].k == 1`.
//!
//! What is left out would have no solution, and nothing could tell. What is not left out is
//! evaluated as ever. A traced evaluation leaves out nothing.

use super::ir::{Expr, Keyed, Kind, Operand, Reference, Root, Slot, Step};
use super::machine::{Frame, Machine, Stop};
use super::once::Ground;
use super::reference::Walk;
use crate::value::Entry;
use crate::{Value, lookup};

/// As many expressions may stand between one that goes through items and what is asked of them.
const NEAR: usize = 8;

/// Finds what is asked of the items that the expressions of a body go through.
pub(super) fn find(exprs: &mut [Expr]) {
    for at in 0..exprs.len() {
        let keyed = exprs.get(at).and_then(|expr| {
            let item = goes_through(expr)?;
            asked(exprs.get(at + 1..)?, at + 1, item)
        });
        if let Some(expr) = exprs.get_mut(at) {
            expr.keyed = keyed;
        }
    }
}

/// The variable to which an expression gives the items of something.
fn goes_through(expr: &Expr) -> Option<Slot> {
    if expr.negated || !expr.with.is_empty() {
        return None;
    }
    match &expr.kind {
        Kind::Unify(Operand::Var(item), Operand::Reference(reference))
        | Kind::Unify(Operand::Reference(reference), Operand::Var(item)) => {
            let last = reference.steps.last()?;
            matches!(last, Step::Any(_) | Step::One(Operand::Var(_))).then_some(*item)
        }
        _ => None,
    }
}

/// The first equation that says something of the variable.
fn asked(exprs: &[Expr], first: usize, item: Slot) -> Option<Keyed> {
    for (equation, expr) in (first..).zip(exprs).take(NEAR) {
        if expr.negated || !expr.with.is_empty() {
            return None;
        }
        let Kind::Unify(left, right) = &expr.kind else {
            return None;
        };
        for (side, is_right) in [(left, true), (right, false)] {
            let other = if is_right { right } else { left };
            if let Some(path) = within(side, item)
                && may_be_known(other)
            {
                return Some(Keyed {
                    item,
                    path,
                    equation,
                    is_right,
                });
            }
        }
        if !is_harmless(left) || !is_harmless(right) {
            return None;
        }
    }
    None
}

/// The steps from a variable to what a term is.
fn within(operand: &Operand, item: Slot) -> Option<Vec<Value>> {
    match operand {
        Operand::Var(slot) => (*slot == item).then(Vec::new),
        Operand::Reference(reference) => match &reference.root {
            Root::Term(Operand::Var(slot)) if *slot == item => {
                names(&reference.steps).map(|names| names.cloned().collect())
            }
            _ => None,
        },
        _ => None,
    }
}

/// The steps, if all of them are names.
fn names(steps: &[Step]) -> Option<impl Iterator<Item = &Value> + Clone> {
    let name = |step: &'_ Step| matches!(step, Step::One(Operand::Known(Value::String(_))));
    steps.iter().all(name).then(|| {
        steps.iter().filter_map(|step| match step {
            Step::One(Operand::Known(name)) => Some(name),
            _ => None,
        })
    })
}

/// Whether the value of a term may be known without evaluation.
fn may_be_known(operand: &Operand) -> bool {
    match operand {
        Operand::Known(_) | Operand::Var(_) => true,
        Operand::Reference(reference) => is_plain(reference),
        _ => false,
    }
}

/// Whether a term can neither fail nor be noticed.
fn is_harmless(operand: &Operand) -> bool {
    match operand {
        Operand::Known(_) | Operand::Var(_) => true,
        Operand::Reference(reference) => is_plain(reference),
        Operand::Array(_) | Operand::Object(_) | Operand::Set(_) | Operand::Comprehension(_) => {
            false
        }
    }
}

/// Whether a reference leads from a variable or the input along constants and variables.
fn is_plain(reference: &Reference) -> bool {
    let is_plain = matches!(
        reference.root,
        Root::Input | Root::Term(Operand::Var(_) | Operand::Known(_))
    );
    let step = |step: &Step| matches!(step, Step::One(Operand::Known(_) | Operand::Var(_)));
    is_plain && reference.steps.iter().all(step)
}

impl<'p> Machine<'p> {
    /// The only places of items that can matter, if that is known. `rest` is what is behind the
    /// step to the items.
    pub(super) fn places<'v>(
        &self,
        frame: &Frame<'_>,
        step: &Step,
        rest: Walk<'_>,
        list: &'v Value,
    ) -> Result<Option<&'v [Entry]>, Stop> {
        if list.lookups().is_none() || self.watched() {
            return Ok(None);
        }
        let (Step::Any(_) | Step::One(Operand::Var(_)), Some(target)) = (step, rest.target) else {
            return Ok(None);
        };
        match (target, rest.steps) {
            (Operand::Var(slot), []) if self.slot(frame, *slot).is_none() => {
                let exprs = &frame.body.exprs;
                let expr = exprs.get(frame.index.get()).filter(|_| !frame.bare);
                let keyed = expr.and_then(|expr| expr.keyed.as_ref());
                let Some(keyed) = keyed.filter(|keyed| keyed.item == *slot) else {
                    return Ok(None);
                };
                let Some(Expr {
                    kind: Kind::Unify(left, right),
                    ..
                }) = exprs.get(keyed.equation)
                else {
                    return Ok(None);
                };
                let other = if keyed.is_right { right } else { left };
                self.at_path(list, keyed.path.iter(), self.ground(frame, other))
            }
            (target, steps) => match names(steps) {
                Some(path) => self.at_path(list, path, self.ground(frame, target)),
                None => Ok(None),
            },
        }
    }

    fn at_path<'v, 'k>(
        &self,
        list: &'v Value,
        path: impl Iterator<Item = &'k Value> + Clone,
        sought: Ground<'_, 'p>,
    ) -> Result<Option<&'v [Entry]>, Stop> {
        match sought {
            Ground::Value(sought) | Ground::Lent(sought) => {
                let places = lookup::places(&self.session.meter, list, path, sought);
                places.map_err(Stop::ended)
            }
            Ground::Undefined => Ok(Some(&[])),
            Ground::Rules(..) | Ground::Unknown => Ok(None),
        }
    }
}
