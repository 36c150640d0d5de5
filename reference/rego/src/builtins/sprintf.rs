//! `sprintf`, with the verbs of Go's `fmt`.

use super::expected::{CallResult, array};
use super::format::{Argument, formatted};
use super::operand::{answer, characters};
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::value::{Literal, Number};

pub(super) const BUILTINS: Group = &[("sprintf", Cost::Product, sprintf)];

fn sprintf(call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let format = characters(operands, 1)?;
    let values = array(operands, 2)?.iter();
    let arguments = values.map(|value| argument(call, value));
    let arguments = arguments.collect::<Result<Vec<_>, Failure>>()?;
    let formatted = formatted(call, &format, &arguments)?;
    answer(Value::string(&formatted))
}

/// Converts a value to a format argument: non-numbers and non-strings are serialized.
fn argument<'v>(call: &Call<'_>, value: &'v Value) -> Result<Argument<'v>, Failure> {
    call.unfold([value])?;
    Ok(match value {
        Value::String(text) => Argument::text(text.as_bytes()),
        Value::Bytes(bytes) => Argument::text(bytes.as_bytes()),
        Value::Number(number) => of_number(number),
        other => Argument::text(Literal(other).to_string().into_bytes()),
    })
}

fn of_number(number: &Number) -> Argument<'_> {
    if let Some(integer) = number.as_i64() {
        return Argument::Integer(integer, "int64");
    }
    let text = number.text();
    if !text.contains(['.', 'e', 'E'])
        && let Ok(Some(integer)) = number.to_integer()
    {
        return Argument::Big(integer);
    }
    let float = number.as_f64();
    match float.is_finite() {
        true => Argument::Float(float),
        false => Argument::text(text.into_owned().into_bytes()),
    }
}
