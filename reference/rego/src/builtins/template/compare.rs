//! Comparisons in templates.

use std::cmp::Ordering;

use super::error::Wrong;
use super::item::{Item, TemplateValue};
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
    match &item.content {
        TemplateValue::Bool(_) => Basic::Bool,
        TemplateValue::Integer(..) => Basic::Integer,
        TemplateValue::Float(_) => Basic::Float,
        TemplateValue::Complex(..) => Basic::Complex,
        TemplateValue::Text(..) => Basic::Text,
        TemplateValue::Absent | TemplateValue::List(..) | TemplateValue::Map(_) => Basic::Other,
    }
}

/// Whether an item equals one of the others.
pub(super) fn is_any(call: &Call<'_>, item: &Item, others: &[Item]) -> Result<bool, Wrong> {
    if others.is_empty() {
        return Err(Wrong::message("missing argument for comparison"));
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
    let is_absent = |item: &Item| matches!(item.content, TemplateValue::Absent);
    if is_absent(left) || is_absent(right) {
        return Ok(is_absent(left) && is_absent(right));
    }
    if basic(left) != basic(right) {
        return Err(incompatible(left, right));
    }
    Ok(match (&left.content, &right.content) {
        (TemplateValue::Bool(left), TemplateValue::Bool(right)) => left == right,
        (TemplateValue::Integer(left, _), TemplateValue::Integer(right, _)) => left == right,
        (TemplateValue::Float(left), TemplateValue::Float(right)) => left == right,
        (TemplateValue::Complex(a, b), TemplateValue::Complex(c, d)) => a == c && b == d,
        (TemplateValue::Text(..), TemplateValue::Text(..)) => {
            order_of_texts(call, left, right)?.is_eq()
        }
        _ => return Err(not_comparable(call, left, right)?),
    })
}

fn incompatible(left: &Item, right: &Item) -> Wrong {
    let (left, right) = (left.kind(), right.kind());
    Wrong::Message(format!(
        "incompatible types for comparison: {left} and {right}"
    ))
}

fn not_comparable(call: &Call<'_>, left: &Item, right: &Item) -> Result<Wrong, Wrong> {
    let (left_kind, right_kind) = (left.kind(), right.kind());
    let formatted = left.format(call, 's')?;
    if left_kind == right_kind {
        let formatted = right.format(call, 's')?;
        return Ok(Wrong::Message(format!(
            "non-comparable type {formatted}: {right_kind}"
        )));
    }
    let other = right.format(call, 'v')?;
    Ok(Wrong::Message(format!(
        "non-comparable types {formatted}: {left_kind}, {right_kind}: {other}"
    )))
}

fn order_of_texts(call: &Call<'_>, left: &Item, right: &Item) -> Result<Ordering, Wrong> {
    let (TemplateValue::Text(left, _), TemplateValue::Text(right, _)) =
        (&left.content, &right.content)
    else {
        return Ok(Ordering::Equal);
    };
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let length = left.unwrap_or_default().len();
    call.spend(length / 64)?;
    Ok(left.cmp(&right))
}

/// Whether an item is less than another.
pub(super) fn is_less(call: &Call<'_>, left: &Item, right: &Item) -> Result<bool, Wrong> {
    let invalid = || Wrong::message("invalid type for comparison");
    if basic(left) == Basic::Other || basic(right) == Basic::Other {
        return Err(invalid());
    }
    if basic(left) != basic(right) {
        return Err(incompatible(left, right));
    }
    match (&left.content, &right.content) {
        (TemplateValue::Integer(left, _), TemplateValue::Integer(right, _)) => Ok(left < right),
        (TemplateValue::Float(left), TemplateValue::Float(right)) => Ok(left < right),
        (TemplateValue::Text(..), TemplateValue::Text(..)) => {
            Ok(order_of_texts(call, left, right)?.is_lt())
        }
        _ => Err(invalid()),
    }
}
