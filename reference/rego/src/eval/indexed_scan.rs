//! Indexed scans: iteration over only those items of a collection that can match a known value, as
//! in `some g in data.grants; g.user == input.user` or `data.xs[_].k == 1`. Items of a long list
//! are found through an index; in a short list each item is compared before anything else is
//! evaluated.
//!
//! Omitted items would have no solution, so the omission is not observable. All other items are
//! evaluated normally. A traced evaluation omits nothing.

use smallvec::SmallVec;

use super::binding::Binding;
use super::deterministic::ResolvedTerm;
use super::machine::{Frame, Interrupt, Machine};
use super::value_ref::{Walk, member};
use crate::ir::item_conditions::constant_names;
use crate::ir::{Keyed, Kind, Operand, Slot, Step};
use crate::meter::Meter;
use crate::value::{Entry, MemberPlace};
use crate::{Value, lookup};

/// Returns the conditions on the items that the current expression of the frame binds to the
/// variable `item`, each with the side of its equation that does not contain the item.
fn item_conditions<'f>(
    frame: &'f Frame<'_>,
    item: Slot,
) -> impl Iterator<Item = (&'f Keyed, &'f Operand)> + use<'f> {
    let exprs = &frame.body.exprs;
    let expr = exprs
        .get(frame.index.get())
        .filter(|_| !frame.without_modifiers);
    let keyed = expr.map_or(&[][..], |expr| &expr.keyed).iter();
    keyed.filter_map(move |keyed| match &exprs.get(keyed.equation)?.kind {
        Kind::Unify(left, right) if keyed.item == item => {
            Some((keyed, if keyed.is_right { right } else { left }))
        }
        _ => None,
    })
}

/// Equation between a part of each item and a value that is known before the iteration.
pub(super) struct Condition<'x> {
    /// Steps from an item to the part that is compared.
    path: &'x [Value],
    /// Cached position of the member that the first step selects, from the previous item.
    place: MemberPlace,
    /// Required value of the part; if unbound, the equation is never satisfied.
    known: Binding<'x>,
    /// The required value, if it is a short string.
    text: Option<&'x str>,
    /// Index of the equation in the body.
    equation: usize,
}

/// Conditions on the items to which a variable is bound.
#[derive(Default)]
pub(super) struct Conditions<'x>(SmallVec<[Condition<'x>; 2]>);

impl Conditions<'_> {
    /// Returns the index of the expression after the one at `index` and all satisfied conditions.
    pub(super) fn next_unsatisfied(&self, index: usize) -> usize {
        let mut equations = self.0.iter().map(|condition| condition.equation);
        let mut next = index + 1;
        while equations.next() == Some(next) {
            next += 1;
        }
        next
    }
}

impl<'p> Machine<'p> {
    /// Returns the positions of the only items that can match, if they are known. `rest` are the
    /// steps after the step to the items.
    pub(super) fn places<'v>(
        &self,
        frame: &Frame<'_>,
        step: &Step,
        rest: Walk<'_>,
        list: &'v Value,
    ) -> Result<Option<&'v [Entry]>, Interrupt> {
        if list.lookups().is_none() || self.watched() {
            return Ok(None);
        }
        let (Step::Any(_) | Step::One(Operand::Var(_)), Some(target)) = (step, rest.target) else {
            return Ok(None);
        };
        match (target, rest.steps) {
            (Operand::Var(slot), []) if self.slot(frame, *slot).is_none() => {
                for (keyed, other) in item_conditions(frame, *slot) {
                    let key = self.ground(frame, other);
                    if !matches!(key, ResolvedTerm::Rules(..) | ResolvedTerm::Unknown) {
                        return self.at_path(list, keyed.path.iter(), key);
                    }
                }
                Ok(None)
            }
            (target, steps) => match constant_names(steps) {
                Some(path) => self.at_path(list, path, self.ground(frame, target)),
                None => Ok(None),
            },
        }
    }

    /// Returns the conditions on the items to which a variable is bound, as far as they are known.
    pub(super) fn conditions<'x>(&self, frame: &'x Frame<'_>, item: Slot) -> Conditions<'x>
    where
        'p: 'x,
    {
        let conditions = item_conditions(frame, item).filter_map(|(keyed, other)| {
            let known = match (other, self.ground(frame, other)) {
                (Operand::Known(known), _) => Binding::Borrowed(known),
                (_, ResolvedTerm::Lent(known)) => Binding::Borrowed(known),
                (_, ResolvedTerm::Value(known)) => Binding::Owned(known.clone()),
                (_, ResolvedTerm::Undefined) => Binding::Unbound,
                (_, ResolvedTerm::Rules(..) | ResolvedTerm::Unknown) => return None,
            };
            let text = match known {
                Binding::Borrowed(Value::String(text)) if text.len() < Meter::SHORT_TEXT => {
                    Some(&**text)
                }
                _ => None,
            };
            Some(Condition {
                path: &keyed.path,
                place: MemberPlace::default(),
                known,
                text,
                equation: keyed.equation,
            })
        });
        Conditions(conditions.collect())
    }

    /// Whether an item satisfies the conditions.
    #[inline]
    pub(super) fn satisfies(&self, conditions: &Conditions<'_>, item: &Value) -> bool {
        conditions.0.iter().all(|condition| {
            let part = match condition.path {
                [] => Some(item),
                [name, rest @ ..] => {
                    let first = condition.place.member(item, name);
                    first.and_then(|first| rest.iter().try_fold(first, member))
                }
            };
            match (condition.text, part) {
                (Some(text), Some(part)) => part.as_str() == Some(text),
                (None, Some(part)) => {
                    let known = condition.known.get();
                    known.is_some_and(|known| self.equal(known, part))
                }
                (_, None) => false,
            }
        })
    }

    fn at_path<'v, 'k>(
        &self,
        list: &'v Value,
        path: impl Iterator<Item = &'k Value> + Clone,
        key: ResolvedTerm<'_, 'p>,
    ) -> Result<Option<&'v [Entry]>, Interrupt> {
        match key {
            ResolvedTerm::Value(key) | ResolvedTerm::Lent(key) => {
                let places = lookup::places(self.meter, list, path, key);
                places.map_err(Interrupt::aborted)
            }
            ResolvedTerm::Undefined => Ok(Some(&[])),
            ResolvedTerm::Rules(..) | ResolvedTerm::Unknown => Ok(None),
        }
    }
}
