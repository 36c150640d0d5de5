//! Item conditions: equations about each item of a scan, such as `g.user == input.user` in
//! `some g in data.grants; g.user == input.user`, which the evaluator checks before anything else
//! or looks up in an index.

use super::{Expr, Keyed, Kind, Operand, Reference, Root, Slot, Step};
use crate::Value;

/// Maximum number of expressions after the iteration that are searched for conditions.
const MAX_LOOKAHEAD: usize = 8;

/// Finds the conditions on the items that the expressions of a body iterate over.
pub(super) fn find(exprs: &mut [Expr]) {
    for at in 0..exprs.len() {
        let keyed = exprs.get(at).and_then(|expr| {
            let item = scans(expr)?;
            Some(equations_of(exprs.get(at + 1..)?, at + 1, item))
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

/// Returns the equations that constrain the items to which the variable is bound.
fn equations_of(exprs: &[Expr], first: usize, item: Slot) -> Vec<Keyed> {
    let mut found = Vec::new();
    for (equation, expr) in (first..).zip(exprs).take(MAX_LOOKAHEAD) {
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

/// Returns the steps from the items' variable to a term; `None` if the term is not within an item.
fn within(operand: &Operand, item: Slot) -> Option<Vec<Value>> {
    match operand {
        Operand::Var(slot) => (*slot == item).then(Vec::new),
        Operand::Reference(reference) => match &reference.root {
            Root::Term(Operand::Var(slot)) if *slot == item => {
                constant_names(&reference.steps).map(|names| names.cloned().collect())
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns the steps, if all of them are names.
pub(crate) fn constant_names(steps: &[Step]) -> Option<impl Iterator<Item = &Value> + Clone> {
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
