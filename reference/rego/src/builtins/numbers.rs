//! Ranges, random numbers and numbers from other values.

use num_bigint::{BigInt, Sign};

use super::expected::{CallResult, big_integer, integer, mismatch, mistyped_of};
use super::operand::{answer, any, refuse, text};
use super::strings::lowered;
use super::{BuiltinLimit, Call, Cost, Group, Maximum};
use crate::Value;
use crate::value::{Number, quoted};

pub(super) const BUILTINS: Group = &[
    ("numbers.range", Cost::Stepping, range),
    ("numbers.range_step", Cost::Stepping, range_step),
    ("rand.intn", Cost::BuiltinContext, random),
    ("to_number", Cost::Linear, to_number),
];

/// Maximum length of a range.
const MAX_LENGTH: u32 = 20_000_000;

pub(super) const LIMITS: &[BuiltinLimit] = &[BuiltinLimit {
    functions: &["numbers.range", "numbers.range_step"],
    subject: "numbers of a range",
    most: Maximum::Count(MAX_LENGTH as usize),
}];

fn range(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    steps(call, operands, &BigInt::from(1))
}

fn range_step(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    big_integer(operands, 1)?;
    big_integer(operands, 2)?;
    let step = big_integer(operands, 3)?;
    if step.sign() != Sign::Plus {
        return refuse("numbers.range_step: step must be a positive integer");
    }
    steps(call, operands, &step)
}

fn steps(call: &mut Call<'_>, operands: &[Value], step: &BigInt) -> CallResult {
    let (first, last) = (big_integer(operands, 1)?, big_integer(operands, 2)?);
    let down = first > last;
    let distance = BigInt::from((&last - &first).magnitude().clone()) / step;
    let length = u32::try_from(&distance).ok();
    let Some(length) = length.filter(|length| *length < MAX_LENGTH) else {
        return refuse(format!("a range may have at most {MAX_LENGTH} numbers"));
    };
    let step = if down { -step } else { step.clone() };
    let count = usize::try_from(length).unwrap_or(0) + 1;
    call.make(count)?;
    let mut numbers = Vec::with_capacity(count);
    let ends = (
        i64::try_from(&first),
        i64::try_from(&last),
        i64::try_from(&step),
    );
    if let (Ok(first), Ok(_), Ok(step)) = ends {
        // All numbers are between two that fit `i64`.
        for at in 0..=i64::from(length) {
            call.check()?;
            numbers.push(Value::from(first.wrapping_add(step.wrapping_mul(at))));
        }
        return answer(numbers);
    }
    let mut number = first;
    for _ in 0..=length {
        call.check()?;
        numbers.push(Value::Number(Number::from(number.clone())));
        number += &step;
    }
    answer(numbers)
}

fn random(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    text(operands, 1)?;
    let limit = integer(operands, 2)?.saturating_abs();
    if limit == 0 {
        return answer(0);
    }
    let key = (
        "rand.intn",
        vec![any(operands, 1).clone(), Value::from(limit)],
    );
    let number = call.session.answers.entry(key);
    let number = number.or_insert_with(|| Some(Value::from(rand::random_range(0..limit))));
    Ok(number.clone())
}

fn to_number(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    match any(operands, 1) {
        Value::Null => answer(0),
        Value::Bool(value) => answer(i64::from(*value)),
        number @ Value::Number(_) => answer(number.clone()),
        Value::String(text) => parsed(text),
        other => mistyped_of(1, &["null", "boolean", "number", "string"], other),
    }
}

fn parsed(text: &str) -> CallResult {
    let unsigned = lowered(text.trim_start_matches(['+', '-']));
    if matches!(unsigned.as_str(), "inf" | "infinity" | "nan") {
        return mismatch("operand 1 must be valid number string but got string");
    }
    let quoted_text = quoted(text);
    match Number::parse(text) {
        Some(number) if number.as_f64().is_finite() => answer(number),
        Some(_) => refuse(format!(
            "strconv.ParseFloat: parsing {quoted_text}: value out of range"
        )),
        None => refuse(format!(
            "strconv.ParseFloat: parsing {quoted_text}: invalid syntax"
        )),
    }
}
