//! Comparisons in templates.

use std::cmp::Ordering;

use super::error::Wrong;
use super::item::{Item, Thing};
use crate::builtins::Call;

/// Basic types whose values are comparable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Basic {
    Bool,
    Integer,
    Float,
    Complex,
    Text,
    /// Not a basic type.
    Other,
}

fn basic(item: &Item) -> Basic {
    match &item.thing {
        Thing::Bool(_) => Basic::Bool,
        Thing::Integer(..) => Basic::Integer,
        Thing::Float(_) => Basic::Float,
        Thing::Complex(..) => Basic::Complex,
        Thing::Text(..) => Basic::Text,
        Thing::Absent | Thing::List(..) | Thing::Map(_) => Basic::Other,
    }
}

/// Whether an item equals one of the others.
pub(super) fn is_any(call: &Call<'_>, item: &Item, others: &[Item]) -> Result<bool, Wrong> {
    if others.is_empty() {
        return Err(Wrong::said("missing argument for comparison"));
    }
    for other in others {
        call.check()?;
        if is_equal(call, item, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_equal(call: &Call<'_>, left: &Item, right: &Item) -> Result<bool, Wrong> {
    let is_absent = |item: &Item| matches!(item.thing, Thing::Absent);
    if is_absent(left) || is_absent(right) {
        return Ok(is_absent(left) && is_absent(right));
    }
    if basic(left) != basic(right) {
        return Err(incompatible(left, right));
    }
    Ok(match (&left.thing, &right.thing) {
        (Thing::Bool(left), Thing::Bool(right)) => left == right,
        (Thing::Integer(left, _), Thing::Integer(right, _)) => left == right,
        (Thing::Float(left), Thing::Float(right)) => left == right,
        (Thing::Complex(a, b), Thing::Complex(c, d)) => a == c && b == d,
        (Thing::Text(..), Thing::Text(..)) => order_of_texts(call, left, right)?.is_eq(),
        _ => return Err(not_comparable(call, left, right)?),
    })
}

fn incompatible(left: &Item, right: &Item) -> Wrong {
    let (left, right) = (left.kind(), right.kind());
    Wrong::Said(format!(
        "incompatible types for comparison: {left} and {right}"
    ))
}

fn not_comparable(call: &Call<'_>, left: &Item, right: &Item) -> Result<Wrong, Wrong> {
    let (left_kind, right_kind) = (left.kind(), right.kind());
    let shown = left.shown(call, 's')?;
    if left_kind == right_kind {
        let shown = right.shown(call, 's')?;
        return Ok(Wrong::Said(format!(
            "non-comparable type {shown}: {right_kind}"
        )));
    }
    let other = right.shown(call, 'v')?;
    Ok(Wrong::Said(format!(
        "non-comparable types {shown}: {left_kind}, {right_kind}: {other}"
    )))
}

fn order_of_texts(call: &Call<'_>, left: &Item, right: &Item) -> Result<Ordering, Wrong> {
    let (Thing::Text(left, _), Thing::Text(right, _)) = (&left.thing, &right.thing) else {
        return Ok(Ordering::Equal);
    };
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let length = left.unwrap_or_default().len();
    call.spend(length / 64)?;
    Ok(left.cmp(&right))
}

/// Whether an item is less than another.
pub(super) fn is_less(call: &Call<'_>, left: &Item, right: &Item) -> Result<bool, Wrong> {
    let invalid = || Wrong::said("invalid type for comparison");
    if basic(left) == Basic::Other || basic(right) == Basic::Other {
        return Err(invalid());
    }
    if basic(left) != basic(right) {
        return Err(incompatible(left, right));
    }
    match (&left.thing, &right.thing) {
        (Thing::Integer(left, _), Thing::Integer(right, _)) => Ok(left < right),
        (Thing::Float(left), Thing::Float(right)) => Ok(left < right),
        (Thing::Text(..), Thing::Text(..)) => Ok(order_of_texts(call, left, right)?.is_lt()),
        _ => Err(invalid()),
    }
}
