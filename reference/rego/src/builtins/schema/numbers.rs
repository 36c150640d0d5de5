//! Keywords for numbers.

use num_bigint::BigUint;

use super::super::Failure;
use super::draft::Draft;
use super::fault::{Fault, invalid_schema, mistyped};
use super::findings::Findings;
use super::path::Path;
use super::read;
use super::validate::Validator;
use crate::Value;
use crate::value::{Number, Object};

/// Keywords for numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    multiple_of: Option<Number>,
    maximum: Option<Number>,
    exclusive_maximum: Option<Number>,
    minimum: Option<Number>,
    exclusive_minimum: Option<Number>,
}

impl Numbers {
    pub(super) fn read(members: &Object, draft: Draft) -> Result<Self, Fault> {
        let mut numbers = Self {
            multiple_of: multiple_of(members)?,
            ..Self::default()
        };
        (numbers.minimum, numbers.exclusive_minimum) =
            limit(members, "minimum", "exclusiveMinimum", draft)?;
        (numbers.maximum, numbers.exclusive_maximum) =
            limit(members, "maximum", "exclusiveMaximum", draft)?;
        Ok(numbers)
    }

    pub(super) fn is_needed(&self) -> bool {
        let all = [
            &self.multiple_of,
            &self.maximum,
            &self.exclusive_maximum,
            &self.minimum,
            &self.exclusive_minimum,
        ];
        all.into_iter().any(Option::is_some)
    }

    pub(super) fn check(
        &self,
        validator: &Validator<'_>,
        number: &Number,
        path: &Path<'_>,
        found: &mut Findings,
    ) -> Result<(), Failure> {
        let call = validator.call;
        if let Some(divisor) = &self.multiple_of {
            call.spend(work(number)?.saturating_add(work(divisor)?))?;
            if !is_multiple(number, divisor) {
                let text = || format!("Must be a multiple of {}", format_number(divisor));
                found.add(call, path, "multiple_of", text)?;
            }
        }
        let limits = [
            (
                &self.maximum,
                true,
                false,
                "number_lte",
                "less than or equal to",
            ),
            (
                &self.exclusive_maximum,
                true,
                true,
                "number_lt",
                "less than",
            ),
            (
                &self.minimum,
                false,
                false,
                "number_gte",
                "greater than or equal to",
            ),
            (
                &self.exclusive_minimum,
                false,
                true,
                "number_gt",
                "greater than",
            ),
        ];
        for (limit, is_upper, excludes, kind, words) in limits {
            let Some(limit) = limit else { continue };
            call.spend(digits(number) / 64)?;
            let beyond = match is_upper {
                true => number > limit,
                false => number < limit,
            };
            if beyond || (excludes && number == limit) {
                let text = || format!("Must be {words} {}", format_number(limit));
                found.add(call, path, kind, text)?;
            }
        }
        Ok(())
    }
}

fn multiple_of(members: &Object) -> Result<Option<Number>, Fault> {
    let Some(value) = members.get("multipleOf") else {
        return Ok(None);
    };
    match read::number(value) {
        None => mistyped("Number", "multipleOf"),
        Some(number) if *number <= Number::from(0i64) => {
            invalid_schema("multipleOf must be strictly greater than 0")
        }
        Some(number) => Ok(Some(number.clone())),
    }
}

/// Reads an inclusive and an exclusive limit. In draft 4 the latter is a flag on the former.
fn limit(
    members: &Object,
    keyword: &str,
    exclusive: &str,
    draft: Draft,
) -> Result<(Option<Number>, Option<Number>), Fault> {
    let limit = match members.get(keyword) {
        None => None,
        Some(value) => match read::number(value) {
            None => return invalid_schema(format!("{keyword} must be of a Number")),
            Some(number) => Some(number.clone()),
        },
    };
    match (members.get(exclusive), draft) {
        (None, _) => Ok((limit, None)),
        (Some(Value::Bool(excludes)), Draft::Four | Draft::Hybrid) => match (limit, excludes) {
            (None, _) => invalid_schema(format!("{exclusive} cannot be used without {keyword}")),
            (limit, true) => Ok((None, limit)),
            (limit, false) => Ok((limit, None)),
        },
        (Some(_), Draft::Four) => mistyped("boolean", exclusive),
        (Some(value @ Value::Number(_)), _) => Ok((limit, read::number(value).cloned())),
        (Some(_), Draft::Hybrid) => mistyped("boolean/number", exclusive),
        (Some(_), _) => mistyped("number", exclusive),
    }
}

/// Number of characters of a number, or 0 for a small integer.
fn digits(number: &Number) -> usize {
    match number.small() {
        Some(_) => 0,
        None => number.text().len(),
    }
}

/// Maximum number of characters of numbers that are divided.
const MAX_DIGITS: usize = 20_000;

/// Cost of dividing a number or dividing by it, in units of the meter: the conversion of its digits
/// is quadratic.
fn work(number: &Number) -> Result<usize, Failure> {
    match digits(number) {
        digits if digits > MAX_DIGITS => Err(Failure::Value("number too big".to_owned())),
        digits => Ok(digits / 64 + (digits / 512).saturating_mul(digits / 512)),
    }
}

/// Digits of a number, and the power of ten to multiply them by.
struct Scaled {
    negative: bool,
    digits: String,
    power: i64,
}

impl Scaled {
    fn of(number: &Number) -> Self {
        let text = number.text();
        let unsigned = text.strip_prefix('-').unwrap_or(&text);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let written = format!("{integer}{fraction}");
        let digits = written.trim_end_matches('0');
        // Exponents are moderate; others are treated as zero or as a non-integer.
        let exponent: i64 = exponent.parse().unwrap_or(-i64::from(u32::MAX));
        let zeros = written.len() - digits.len();
        let power = exponent
            .saturating_sub_unsigned(fraction.len() as u64)
            .saturating_add_unsigned(zeros as u64);
        Self {
            negative: unsigned.len() < text.len(),
            digits: digits.trim_start_matches('0').to_owned(),
            power,
        }
    }

    fn integer(&self) -> BigUint {
        self.digits.parse().unwrap_or_default()
    }
}

/// Whether a number is an integer, in any notation.
pub(super) fn is_integer(number: &Number) -> bool {
    if number.small().is_some() {
        return true;
    }
    let scaled = Scaled::of(number);
    scaled.digits.is_empty() || scaled.power >= 0
}

/// Whether a number is an integer multiple of a positive divisor.
fn is_multiple(number: &Number, divisor: &Number) -> bool {
    if let (Some(number), Some(divisor)) = (number.small(), divisor.small()) {
        return number.checked_rem(divisor) == Some(0);
    }
    let (number, divisor) = (Scaled::of(number), Scaled::of(divisor));
    if number.digits.is_empty() {
        return true;
    }
    let ten = BigUint::from(10u32);
    let power = number.power.saturating_sub(divisor.power);
    let size = power.unsigned_abs();
    let by = divisor.integer();
    if by == BigUint::ZERO {
        return false;
    }
    // The digits do not end in a zero, so they are not divisible by a power of ten.
    if power < 0 {
        return false;
    }
    let rest = number.integer() % &by * ten.modpow(&BigUint::from(size), &by);
    rest % by == BigUint::ZERO
}

/// Formats a limit for messages: with an exponent if it is large or near zero.
fn format_number(number: &Number) -> String {
    let Scaled {
        negative,
        digits,
        power,
    } = Scaled::of(number);
    let sign = if negative { "-" } else { "" };
    let Some(first) = digits.get(..1) else {
        return "0".to_owned();
    };
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let exponent = power.saturating_add(length - 1);
    if !(-4..EXPONENT).contains(&exponent) {
        let rest = digits.get(1..).unwrap_or_default();
        let point = if rest.is_empty() { "" } else { "." };
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!(
            "{sign}{first}{point}{rest}e{mark}{:02}",
            exponent.unsigned_abs()
        );
    }
    let decimals = usize::try_from(power.unsigned_abs()).unwrap_or(0);
    if power >= 0 {
        return format!("{sign}{digits}{}", "0".repeat(decimals));
    }
    let padded = format!("{digits:0>width$}", width = decimals + 1);
    let (integer, fraction) = padded.split_at(padded.len() - decimals);
    format!("{sign}{integer}.{fraction}")
}

/// Minimum exponent of numbers that are shown with an exponent.
const EXPONENT: i64 = 6;
