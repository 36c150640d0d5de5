//! Substring search, and `format_int`.

use bstr::ByteSlice;
use num_bigint::BigInt;

use super::expected::{CallResult, mismatch, mistyped_of, number, strings};
use super::operand::{answer, any, bytes, characters, refuse};
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::value::Characters;

pub(super) const BUILTINS: Group = &[
    ("contains", Cost::Linear, |_, operands| {
        answer(bytes(operands, 1)?.contains_str(bytes(operands, 2)?))
    }),
    ("endswith", Cost::Linear, |_, operands| {
        answer(bytes(operands, 1)?.ends_with(bytes(operands, 2)?))
    }),
    ("format_int", Cost::Stepping, format_int),
    ("indexof", Cost::Linear, index_of),
    ("indexof_n", Cost::Stepping, index_of_all),
    ("startswith", Cost::Linear, |_, operands| {
        answer(bytes(operands, 1)?.starts_with(bytes(operands, 2)?))
    }),
    (
        "strings.any_prefix_match",
        Cost::Linear,
        |call, operands| any_match(call, operands, |bytes| bytes.to_vec()),
    ),
    (
        "strings.any_suffix_match",
        Cost::Linear,
        |call, operands| {
            any_match(call, operands, |bytes| {
                bytes.iter().rev().copied().collect()
            })
        },
    ),
    ("strings.count", Cost::Linear, count),
];

fn count(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (haystack, needle) = (bytes(operands, 1)?, bytes(operands, 2)?);
    if needle.is_empty() {
        return answer(1 + Characters::count(haystack));
    }
    answer(haystack.find_iter(needle).count())
}

/// Returns the string and the substring to find, which must not be empty, as characters.
fn haystack_and_needle(operands: &[Value]) -> Result<(Characters<'_>, Characters<'_>), Failure> {
    let (haystack, needle) = (characters(operands, 1)?, characters(operands, 2)?);
    if needle.as_str().is_empty() {
        return refuse("empty search character");
    }
    Ok((haystack, needle))
}

fn index_of(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (haystack, needle) = haystack_and_needle(operands)?;
    let Some((before, _)) = haystack.as_str().split_once(needle.as_str()) else {
        return answer(-1);
    };
    answer(before.chars().count())
}

fn index_of_all(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let (haystack, needle) = haystack_and_needle(operands)?;
    let needle = needle.as_str();
    let step = needle.chars().next().map_or(1, char::len_utf8);
    let (mut found, mut rest, mut passed) = (Vec::new(), haystack.as_str(), 0);
    while let Some(at) = rest.find(needle) {
        call.make(1 + at / 64)?;
        let before = rest.get(..at).unwrap_or_default().chars().count();
        found.push(Value::from(passed + before));
        // Matches may overlap.
        passed += before + 1;
        rest = rest.get(at + step..).unwrap_or_default();
    }
    answer(found)
}

/// Returns the strings of the operand, which is one string or a collection of strings.
fn one_or_more(operands: &[Value], position: usize) -> Result<Vec<&[u8]>, Failure> {
    match any(operands, position) {
        Value::String(text) => Ok(vec![text.as_bytes()]),
        Value::Bytes(bytes) => Ok(vec![bytes.as_bytes()]),
        Value::Array(_) | Value::Set(_) => strings(operands, position, &[]),
        other => mistyped_of(position, &["string", "set", "array"], other),
    }
}

/// Whether any string of the first operand begins with any of the second, both mapped by `key`.
fn any_match(call: &mut Call<'_>, operands: &[Value], key: fn(&[u8]) -> Vec<u8>) -> CallResult {
    let (haystacks, needles) = (one_or_more(operands, 1)?, one_or_more(operands, 2)?);
    let key = |text: &[u8]| {
        call.make(1 + text.len() / 16)?;
        Ok(key(text))
    };
    let haystacks = haystacks.into_iter().map(key);
    let mut haystacks = haystacks.collect::<Result<Vec<Vec<u8>>, Failure>>()?;
    // In sorted order, strings with a prefix directly follow the prefix.
    haystacks.sort_unstable();
    for needle in needles {
        let needle = key(needle)?;
        // Each comparison may examine the whole part.
        let comparisons = haystacks
            .len()
            .checked_ilog2()
            .map_or(0, |log| log as usize);
        call.spend(comparisons * needle.len() / 1024)?;
        let at = haystacks.partition_point(|haystack| *haystack < needle);
        if haystacks
            .get(at)
            .is_some_and(|haystack| haystack.starts_with(&needle))
        {
            return answer(true);
        }
    }
    answer(false)
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
    let value = match input.as_i64() {
        Some(integer) => BigInt::from(integer),
        None => input.truncated()?,
    };
    answer(value.to_str_radix(radix))
}
