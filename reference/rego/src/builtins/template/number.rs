//! Number constants in templates.

use super::unquote::{CharValue, character};

/// Value of a number constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Integer(i64),
    Float(f64),
    Complex(f64, f64),
    /// An integer that overflows.
    TooLarge,
}

/// Parses a character constant.
pub(super) fn of_character(text: &str) -> Result<Number, String> {
    let inside = text.get(1..).unwrap_or_default();
    match character(inside, '\'') {
        Some((decoded, "'")) => Ok(Number::Integer(match decoded {
            CharValue::Byte(byte) => byte.into(),
            CharValue::Code(code) => u32::from(code).into(),
        })),
        Some(_) => Err(format!("malformed character constant: {text}")),
        None => Err("invalid syntax".to_owned()),
    }
}

/// Parses a complex constant with a real and an imaginary part.
pub(super) fn of_parts(text: &str) -> Result<Number, String> {
    let is_sign = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        let is_exponent = before.ends_with(['p', 'P'])
            || before.ends_with(['e', 'E']) && !before.contains(['x', 'X']);
        at > 0 && !is_exponent
    };
    let mut signs = text.match_indices(['+', '-']).map(|(at, _)| at);
    let at = signs.rfind(|at| is_sign(*at)).unwrap_or(0);
    let (real, imaginary) = text.split_at(at);
    let parts = (float(real), imaginary.strip_suffix('i').and_then(float));
    match parts {
        (Some(real), Some(imaginary)) => Ok(Number::Complex(real, imaginary)),
        _ => Err("syntax error scanning complex number".to_owned()),
    }
}

/// Parses a constant that is neither a character nor a complex number of two parts.
pub(super) fn of_text(text: &str) -> Result<Number, String> {
    if let Some(imaginary) = text.strip_suffix('i').and_then(float) {
        return Ok(Number::Complex(0.0, imaginary));
    }
    let is_prefixed = text.starts_with("0x") || text.starts_with("0X");
    let is_hexadecimal = text.len() > 2 && is_prefixed && !text.contains(['p', 'P']);
    // Fractions and exponents are floats, and so are signed hexadecimal integers.
    let is_float = !is_hexadecimal && text.contains(['.', 'e', 'E', 'p', 'P']);
    match integer(text) {
        #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
        Some(Ok(integer)) if is_float => Ok(Number::Float(integer as f64)),
        Some(Ok(integer)) => Ok(Number::Integer(integer)),
        Some(Err(())) => Ok(Number::TooLarge),
        None => match float(text) {
            Some(float) if text.contains(['.', 'e', 'E', 'p', 'P']) => Ok(Number::Float(float)),
            Some(_) => Err(format!("integer overflow: {text:?}")),
            None => Err(format!("illegal number syntax: {text:?}")),
        },
    }
}

/// Parses an integer; an error if it only fits unsigned, `None` if it is not an integer.
fn integer(text: &str) -> Option<Result<i64, ()>> {
    let (negative, size) = match text.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = size.to_ascii_lowercase();
    let (radix, digits) = match lower.split_at_checked(2) {
        Some(("0x", digits)) => (16, digits),
        Some(("0o", digits)) => (8, digits),
        Some(("0b", digits)) => (2, digits),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, lower.get(1..)?),
        _ => (10, lower.as_str()),
    };
    // An underscore may occur between digits, or after the radix prefix.
    let digits = match radix {
        10 => digits,
        _ => digits.strip_prefix('_').unwrap_or(digits),
    };
    if digits.is_empty()
        || digits.starts_with('_')
        || digits.ends_with('_')
        || digits.contains("__")
    {
        return None;
    }
    let digits = digits.replace('_', "");
    let is_digit = |digit: char| digit.is_digit(radix);
    if !digits.chars().all(is_digit) {
        return None;
    }
    let size = u64::from_str_radix(&digits, radix).ok()?;
    if negative {
        return 0i64.checked_sub_unsigned(size).map(Ok);
    }
    match i64::try_from(size) {
        Ok(integer) => Some(Ok(integer)),
        // A number after a plus sign is signed.
        Err(_) if text.starts_with('+') => None,
        Err(_) => Some(Err(())),
    }
}

/// Parses a finite float.
fn float(text: &str) -> Option<f64> {
    let (negative, size) = match text.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let size = match size.strip_prefix("0x").or(size.strip_prefix("0X")) {
        Some(digits) => hexadecimal(digits)?,
        None => {
            let is_part = |character: char| {
                character.is_ascii_digit() || matches!(character, '.' | 'e' | 'E' | '+' | '-')
            };
            let is_plain = size.chars().all(is_part);
            size.parse::<f64>().ok().filter(|_| is_plain)?
        }
    };
    let float = if negative { -size } else { size };
    float.is_finite().then_some(float)
}

fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0;
    let digits = format!("{integer}{fraction}").replace('_', "");
    if digits.is_empty() || digits.len() > 14 || !(-2000..2000).contains(&exponent) {
        return None;
    }
    for digit in digits.chars() {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let places = i32::try_from(fraction.replace('_', "").len()).ok()?;
    let power = exponent - 4 * places;
    Some(value * 2f64.powi(power / 2) * 2f64.powi(power - power / 2))
}
