//! SQL number literals.

use std::cmp::Ordering;

use super::Comparison;
use crate::value::Number;

/// Formats a number in digits, without an exponent.
///
/// # Errors
/// If the number needs more digits than the database stores.
pub(super) fn digits(number: &Number, most: usize) -> Result<String, String> {
    let text = number.text();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent),
        None => (&*text, "0"),
    };
    let too_many_digits = || Err(format!("number with too many digits: {text}"));
    let Ok(exponent) = exponent.trim_start_matches('+').parse::<i32>() else {
        return too_many_digits();
    };
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if exponent == 0 {
        return if whole.len() + fraction.len() > most {
            too_many_digits()
        } else {
            Ok(text.into_owned())
        };
    }
    let Ok(shift) = usize::try_from(exponent.unsigned_abs()) else {
        return too_many_digits();
    };
    if shift > most || whole.len() + fraction.len() + shift > most {
        return too_many_digits();
    }
    let all = format!("{whole}{fraction}");
    let (padded, point) = if exponent > 0 {
        let point = whole.len() + shift;
        (format!("{all:0<point$}"), point)
    } else {
        let length = all.len() + shift;
        (format!("{all:0>length$}"), whole.len())
    };
    let (whole, fraction) = padded.split_at(point);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Ok(if fraction.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    })
}

/// Returns a comparison with a number that a database of 64-bit integers and floats can represent,
/// equivalent to the given comparison; `Err` with its result if that is constant.
pub(super) fn nearest(
    number: &Number,
    comparison: Comparison,
) -> Result<(String, Comparison), bool> {
    let (text, order) = nearest_representable(number);
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    Ok((
        text,
        match (order, comparison) {
            (Ordering::Equal, comparison) => comparison,
            (_, Equal) => return Err(false),
            (_, NotEqual) => return Err(true),
            // The nearest is less: anything below the number is at most the nearest.
            (Ordering::Less, Less | LessOrEqual) => LessOrEqual,
            (Ordering::Less, Greater | GreaterOrEqual) => Greater,
            (Ordering::Greater, Less | LessOrEqual) => Less,
            (Ordering::Greater, Greater | GreaterOrEqual) => GreaterOrEqual,
        },
    ))
}

/// Returns the nearest representable number, and how it compares to the number itself.
fn nearest_representable(number: &Number) -> (String, Ordering) {
    if let Some(integer) = integer(number) {
        return (integer.to_string(), Ordering::Equal);
    }
    let float = number.as_f64();
    if float.is_infinite() {
        let above = float > 0.0;
        let text = if above { "9e999" } else { "-9e999" };
        let order = if above {
            Ordering::Greater
        } else {
            Ordering::Less
        };
        return (text.to_owned(), order);
    }
    // Between 2^53 and 2^63 integers are denser than floats.
    const EXACT_LIMIT: f64 = 9_007_199_254_740_992.0;
    const INTEGER_LIMIT: f64 = 9_223_372_036_854_775_808.0;
    // The shortest digits of this float are below the least integer, which is the same number.
    if float == -INTEGER_LIMIT
        && let Some(least) = Number::parse(&i64::MIN.to_string())
        && least.cmp(number).is_gt()
    {
        return (least.to_string(), Ordering::Greater);
    }
    if (EXACT_LIMIT..INTEGER_LIMIT).contains(&float.abs())
        && let Ok(digits) = digits(number, 1_000)
        && let Some((whole, _)) = digits.split_once('.')
        && let Some(whole) = Number::parse(whole)
    {
        return (whole.to_string(), whole.cmp(number));
    }
    let text = format!("{float:e}");
    let order = Number::parse(&text).map_or(Ordering::Equal, |near| near.cmp(number));
    if order.is_eq() {
        return (number.to_string(), order);
    }
    (text, order)
}

/// Whether a float can represent this number exactly.
pub(super) fn is_float(number: &Number) -> bool {
    let float = number.as_f64();
    float.is_finite() && Number::parse(&format!("{float:e}")).as_ref() == Some(number)
}

/// Returns the number if it is a 64-bit integer, in any notation.
fn integer(number: &Number) -> Option<i64> {
    if let Some(integer) = number.as_i64() {
        return Some(integer);
    }
    let digits = digits(number, 40).ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if fraction.bytes().any(|digit| digit != b'0') {
        return None;
    }
    whole.parse().ok()
}
