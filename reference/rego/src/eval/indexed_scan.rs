//! Indexed scans: iteration over only those items of a collection that can match a known value, as
//! in `some g in data.grants; g.user == input.user` or `data.xs[_].k == 1`. Items of a long list
//! are found through an index; in a short list each item is compared before anything else is
//! evaluated.
//!
//! Omitted items would have no solution, so the omission is not observable. All other items are
//! evaluated normally. A traced evaluation omits nothing.

use smallvec::SmallVec;

use super::binding::Binding;
use super::deterministic::Ground;
use super::ir::{Expr, Keyed, Kind, Operand, Reference, Root, Slot, Step};
use super::machine::{Frame, Interrupt, Machine};
use super::value_ref::{Walk, member};
use crate::meter::Meter;
use crate::value::{Entry, MemberPlace};
use crate::{Value, lookup};

/// Maximum number of expressions after the iteration that are searched for conditions.
const NEAR: usize = 8;

/// Finds the conditions on the items that the expressions of a body iterate over.
pub(super) fn find(exprs: &mut [Expr]) {
    for at in 0..exprs.len() {
        let keyed = exprs.get(at).and_then(|expr| {
            let item = scans(expr)?;
            Some(asked(exprs.get(at + 1..)?, at + 1, item))
        });
        if let Some(expr) = exprs.get_mut(at) {
            expr.keyed = keyed.unwrap_or_default();
        }
    }
}

/// Returns the variable that an expression binds to the items of a collection.
fn scans(expr: &Expr) -> Option<Slot> {
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

/// Returns the equations that constrain the variable.
fn asked(exprs: &[Expr], first: usize, item: Slot) -> Vec<Keyed> {
    let mut found = Vec::new();
    for (equation, expr) in (first..).zip(exprs).take(NEAR) {
        let Kind::Unify(left, right) = &expr.kind else {
            break;
        };
        if expr.negated || !expr.with.is_empty() {
            break;
        }
        let sides = [(left, right, true), (right, left, false)];
        found.extend(sides.into_iter().find_map(|(side, other, is_right)| {
            let path = within(side, item)?;
            may_be_known(other).then_some(Keyed {
                item,
                path,
                equation,
                is_right,
            })
        }));
        if !is_harmless(left) || !is_harmless(right) {
            break;
        }
    }
    found
}

/// Returns the steps from a variable to a term.
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

/// Returns the steps, if all of them are names.
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

/// Returns the conditions on the items that the current expression of the frame binds to a
/// variable, each with the other side of its equation.
fn here<'f>(
    frame: &'f Frame<'_>,
    item: Slot,
) -> impl Iterator<Item = (&'f Keyed, &'f Operand)> + use<'f> {
    let exprs = &frame.body.exprs;
    let expr = exprs.get(frame.index.get()).filter(|_| !frame.bare);
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
    /// Steps from an item to the part.
    path: &'x [Value],
    /// Position of the first step's member in the previous item.
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
    /// Returns the index of the next expression to evaluate if all conditions are satisfied.
    pub(super) fn behind(&self, index: usize) -> usize {
        let mut equations = self.0.iter().map(|condition| condition.equation);
        let mut next = index + 1;
        while equations.next() == Some(next) {
            next += 1;
        }
        next
    }
}

/// Whether the evaluation of a term can neither fail nor be observed.
fn is_harmless(operand: &Operand) -> bool {
    match operand {
        Operand::Known(_) | Operand::Var(_) => true,
        Operand::Reference(reference) => is_plain(reference),
        Operand::Array(_) | Operand::Object(_) | Operand::Set(_) | Operand::Comprehension(_) => {
            false
        }
    }
}

/// Whether a reference has a plain root, and only constants and variables as steps.
fn is_plain(reference: &Reference) -> bool {
    let is_plain = matches!(
        reference.root,
        Root::Input | Root::Term(Operand::Var(_) | Operand::Known(_))
    );
    let step = |step: &Step| matches!(step, Step::One(Operand::Known(_) | Operand::Var(_)));
    is_plain && reference.steps.iter().all(step)
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
                for (keyed, other) in here(frame, *slot) {
                    let sought = self.ground(frame, other);
                    if !matches!(sought, Ground::Rules(..) | Ground::Unknown) {
                        return self.at_path(list, keyed.path.iter(), sought);
                    }
                }
                Ok(None)
            }
            (target, steps) => match names(steps) {
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
        let conditions = here(frame, item).filter_map(|(keyed, other)| {
            let known = match (other, self.ground(frame, other)) {
                (Operand::Known(known), _) => Binding::Borrowed(known),
                (_, Ground::Lent(known)) => Binding::Borrowed(known),
                (_, Ground::Value(known)) => Binding::Owned(known.clone()),
                (_, Ground::Undefined) => Binding::Unbound,
                (_, Ground::Rules(..) | Ground::Unknown) => return None,
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
    pub(super) fn meets(&self, conditions: &Conditions<'_>, item: &Value) -> bool {
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
        sought: Ground<'_, 'p>,
    ) -> Result<Option<&'v [Entry]>, Interrupt> {
        match sought {
            Ground::Value(sought) | Ground::Lent(sought) => {
                let places = lookup::places(self.meter, list, path, sought);
                places.map_err(Interrupt::ended)
            }
            Ground::Undefined => Ok(Some(&[])),
            Ground::Rules(..) | Ground::Unknown => Ok(None),
        }
    }
}
