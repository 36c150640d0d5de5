//! What is in strings, and where; integers as strings.

use num_bigint::BigInt;

use super::expected::{CallResult, mismatch, mistyped_of, number, texts};
use super::operand::{answer, any, refuse, text};
use super::{Call, Failure, Group};
use crate::Value;

pub(super) const BUILTINS: Group = &[
    ("contains", |_, operands| {
        answer(text(operands, 1)?.contains(&**text(operands, 2)?))
    }),
    ("endswith", |_, operands| {
        answer(text(operands, 1)?.ends_with(&**text(operands, 2)?))
    }),
    ("format_int", format_int),
    ("indexof", index_of),
    ("indexof_n", index_of_all),
    ("startswith", |_, operands| {
        answer(text(operands, 1)?.starts_with(&**text(operands, 2)?))
    }),
    ("strings.any_prefix_match", |call, operands| {
        any_match(call, operands, |text| text.as_bytes().to_vec())
    }),
    ("strings.any_suffix_match", |call, operands| {
        any_match(call, operands, |text| text.bytes().rev().collect())
    }),
    ("strings.count", count),
];

fn count(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    answer(text(operands, 1)?.matches(&**text(operands, 2)?).count())
}

/// Both strings, the second not empty.
fn sought(operands: &[Value]) -> Result<(&str, &str), Failure> {
    let (whole, part) = (text(operands, 1)?, text(operands, 2)?);
    if part.is_empty() {
        return refuse("empty search character");
    }
    Ok((whole, part))
}

fn index_of(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (whole, part) = sought(operands)?;
    let Some(at) = whole.find(part) else {
        return answer(-1);
    };
    answer(whole.get(..at).unwrap_or_default().chars().count())
}

fn index_of_all(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (whole, part) = sought(operands)?;
    let step = part.chars().next().map_or(1, char::len_utf8);
    let (mut found, mut rest, mut passed) = (Vec::new(), whole, 0);
    while let Some(at) = rest.find(part) {
        call.make(1 + at / 64)?;
        let before = rest.get(..at).unwrap_or_default().chars().count();
        found.push(Value::from(passed + before));
        // Places may overlap.
        passed += before + 1;
        rest = rest.get(at + step..).unwrap_or_default();
    }
    answer(found)
}

/// One string, or those of a collection.
fn one_or_more(operands: &[Value], position: usize) -> Result<Vec<&str>, Failure> {
    match any(operands, position) {
        Value::String(text) => Ok(vec![&**text]),
        Value::Array(_) | Value::Set(_) => texts(operands, position, &[]),
        other => mistyped_of(position, &["string", "set", "array"], other),
    }
}

/// Whether any of the first strings begins with any of the second, both as a key sees them.
fn any_match(call: &mut Call<'_>, operands: &[Value], key: fn(&str) -> Vec<u8>) -> CallResult {
    let (wholes, parts) = (one_or_more(operands, 1)?, one_or_more(operands, 2)?);
    call.spend(wholes.len() + parts.len())?;
    let mut wholes: Vec<Vec<u8>> = wholes.into_iter().map(key).collect();
    // What begins with a part stands directly behind it.
    wholes.sort_unstable();
    answer(parts.into_iter().any(|part| {
        let part = key(part);
        let at = wholes.partition_point(|whole| *whole < part);
        wholes.get(at).is_some_and(|whole| whole.starts_with(&part))
    }))
}

fn format_int(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let input = number(operands, 1)?;
    let radix = match &*number(operands, 2)?.text() {
        "2" => 2,
        "8" => 8,
        "10" => 10,
        "16" => 16,
        _ => return mismatch("operand 2 must be one of {2, 8, 10, 16}"),
    };
    let whole = match input.as_i64() {
        Some(integer) => BigInt::from(integer),
        None => input.truncated()?,
    };
    answer(whole.to_str_radix(radix))
}
