//! Aggregate functions over collections: `count`, `sum`, `product`, `max`, `min`, `sort`, `all`,
//! `any`, and membership.

use super::expected::{CallResult, items, mistyped_element, mistyped_of};
use super::operand::{answer, any};
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::lookup;
use crate::value::{ArithmeticError, Characters, Number};

pub(super) const BUILTINS: Group = &[
    ("all", Cost::Linear, all),
    ("any", Cost::Linear, any_true),
    ("count", Cost::LinearBut(0b1), count),
    ("internal.member_2", Cost::Linear, member),
    ("internal.member_3", Cost::LinearBut(0b100), member_with_key),
    ("max", Cost::Linear, |_, operands| {
        Ok(items(operands, 1, COLLECTION)?.max().cloned())
    }),
    ("min", Cost::Linear, minimum),
    ("product", Cost::Stepping, product),
    ("sort", Cost::Linear, sort),
    ("sum", Cost::Linear, sum),
];

const COLLECTION: &[&str] = &["set", "array"];

fn count(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    answer(match any(operands, 1) {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Set(members) => members.len(),
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => Characters::count(bytes.as_bytes()),
        other => return mistyped_of(1, &["array", "object", "set", "string"], other),
    })
}

fn sum(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    combine(call, operands, 0, Number::plus, Number::float_sum)
}

fn product(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    combine(call, operands, 1, Number::times, Number::float_product)
}

fn combine(
    call: &mut Call<'_>,
    operands: &[Value],
    start: i64,
    step: fn(&Number, &Number) -> Result<Number, ArithmeticError>,
    floats: fn(&mut dyn Iterator<Item = &Number>) -> Result<Number, ArithmeticError>,
) -> CallResult {
    let mut all = Number::from(start);
    let mut integers = true;
    let items = items(operands, 1, COLLECTION)?;
    for item in items.clone() {
        call.check()?;
        match item {
            Value::Number(number) if integers && number.is_whole()? => all = step(&all, number)?,
            Value::Number(_) => integers = false,
            other => return Err(mistyped_element(1, any(operands, 1), other, "number")),
        }
    }
    if integers {
        return answer(all);
    }
    call.spend(items.len())?;
    let mut numbers = items.filter_map(|item| match item {
        Value::Number(number) => Some(number),
        _ => None,
    });
    answer(floats(&mut numbers)?)
}

/// Returns the last of several equal minimal items, which matters if they are `1` and `1.0`.
fn minimum(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let minimum = items(operands, 1, COLLECTION)?
        .reduce(|minimum, item| if item <= minimum { item } else { minimum });
    Ok(minimum.cloned())
}

fn sort(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut sorted: Vec<Value> = items(operands, 1, COLLECTION)?.cloned().collect();
    sorted.sort();
    answer(sorted)
}

fn all(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut items = items(operands, 1, &["array", "set"])?;
    answer(items.all(|item| *item == Value::Bool(true)))
}

fn any_true(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let mut items = items(operands, 1, &["array", "set"])?;
    answer(items.any(|item| *item == Value::Bool(true)))
}

fn member(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let element = any(operands, 1);
    let collection = any(operands, 2);
    let places = lookup::places(call.meter, collection, [].iter(), element);
    if let Some(places) = places.map_err(Failure::Aborted)? {
        let mut places = places.iter().map(|(_, place)| *place as usize);
        return answer(places.any(|place| lookup::item(collection, place) == Some(element)));
    }
    answer(match collection {
        Value::Set(members) => members.contains(element),
        Value::Array(items) => items.contains(element),
        Value::Object(members) => members.values().any(|value| value == element),
        _ => false,
    })
}

fn member_with_key(_call: &mut Call<'_>, operands: &[Value]) -> Result<Option<Value>, Failure> {
    let (key, value) = (any(operands, 1), any(operands, 2));
    let found = match any(operands, 3) {
        Value::Set(members) => members.get(key),
        Value::Object(members) => members.get_value(key),
        Value::Array(items) => index(key).and_then(|at| items.get(at)),
        _ => None,
    };
    answer(found == Some(value))
}

/// Parses a key as an index: an integer in any notation.
pub(super) fn index(key: &Value) -> Option<usize> {
    match key {
        Value::Number(number) => usize::try_from(number.to_integer().ok()??).ok(),
        _ => None,
    }
}
