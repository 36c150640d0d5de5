//! `units.parse` and `units.parse_bytes`.

use num_bigint::BigInt;

use super::expected::CallResult;
use super::operand::{answer, refuse, text};
use super::strings::lowered;
use super::{Call, Cost, Failure, Group};
use crate::Value;
use crate::value::Number;

pub(super) const BUILTINS: Group = &[
    ("units.parse", Cost::Library, parse),
    ("units.parse_bytes", Cost::Library, parse_bytes),
];

/// Maximum number of digits of an exponent.
const MAX_EXPONENT: usize = 6;

/// Splits a string into its number and its unit; `None` if the exponent is too large.
fn parts(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' | b'.' | b'+' | b'-' => at += 1,
            b'e' | b'E' => {
                let next = bytes.get(at + 1);
                if !next.is_some_and(|next| next.is_ascii_digit() || b"+-".contains(next)) {
                    break;
                }
                at += 1 + usize::from(next.is_some_and(|next| b"+-".contains(next)));
                let digits = bytes.get(at..).unwrap_or_default().iter();
                let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
                if digits > MAX_EXPONENT {
                    return None;
                }
                at += digits;
            }
            _ => break,
        }
    }
    Some(text.split_at_checked(at).unwrap_or((text, "")))
}

/// An exact decimal: digits times a power of ten.
struct Decimal {
    digits: BigInt,
    power: i64,
}

impl Decimal {
    /// Parses a number with an optional sign and leading zeros.
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let unsigned = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
        let (integer, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = format!("{integer}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let sign = if mantissa.starts_with('-') { "-" } else { "" };
        let digits = format!("{sign}{digits}").parse().ok()?;
        let length = i64::try_from(fraction.len()).ok()?;
        let power = exponent.checked_sub(length)?;
        Some(Self { digits, power })
    }

    /// Formats the product with a factor: as an integer, or else with ten decimal places.
    fn text(&self, factor: &BigInt) -> Option<String> {
        let digits = &self.digits * factor;
        let Ok(places) = u32::try_from(-self.power) else {
            let power = u32::try_from(self.power)
                .ok()
                .filter(|power| *power <= 100_000)?;
            return Some((digits * BigInt::from(10).pow(power)).to_string());
        };
        if places > 200_000 {
            return None;
        }
        let unit = BigInt::from(10).pow(places);
        if &digits % &unit == BigInt::ZERO {
            return Some((digits / unit).to_string());
        }
        // Ten decimal places, rounded half away from zero.
        let scale = BigInt::from(10).pow(10);
        let doubled = digits.magnitude() * scale.magnitude() * 2u32 + unit.magnitude();
        let rounded = doubled / (unit.magnitude() * 2u32);
        let text = format!("{:0>11}", rounded.to_string());
        let (integer, fraction) = text.split_at(text.len() - 10);
        let sign = if digits < BigInt::ZERO { "-" } else { "" };
        Some(format!("{sign}{integer}.{fraction}"))
    }
}

const KI: u64 = 1 << 10;
const K: u64 = 1000;

/// Factor of an SI or binary unit, by its first letter in lower case.
fn factor(letter: char, binary: bool) -> Option<u64> {
    let power = match letter {
        'k' => 1,
        'm' => 2,
        'g' => 3,
        't' => 4,
        'p' => 5,
        'e' => 6,
        _ => return None,
    };
    Some(if binary { KI } else { K }.pow(power))
}

struct Messages {
    spaces: &'static str,
    exponent: &'static str,
    amount: &'static str,
    number: &'static str,
}

/// Splits a string without quotes into its number and unit.
fn measured<'t>(text: &'t str, messages: &Messages) -> Result<(&'t str, &'t str), Failure> {
    if text.contains(' ') {
        return refuse(messages.spaces);
    }
    match parts(text) {
        None => refuse(messages.exponent),
        Some(("", _)) => refuse(messages.amount),
        Some(parts) => Ok(parts),
    }
}

fn parse(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let messages = Messages {
        spaces: "units.parse: spaces not allowed in resource strings",
        exponent: "units.parse: exponent too large",
        amount: "units.parse: no amount provided",
        number: "units.parse: could not parse amount to a number",
    };
    let text = text(operands, 1)?.replace('"', "");
    let (number, unit) = measured(&text, &messages)?;
    let mut letters = unit.chars();
    let first = letters.next();
    let rest = lowered(letters.as_str());
    let Some(mut decimal) = Decimal::parse(number) else {
        // An unknown unit takes precedence.
        if unit_factor(first, &rest).is_none() {
            return unknown(first, &rest);
        }
        return refuse(messages.number);
    };
    let Some((factor, power)) = unit_factor(first, &rest) else {
        return unknown(first, &rest);
    };
    decimal.power += power;
    match decimal.text(&factor).and_then(|text| Number::parse(&text)) {
        Some(number) => answer(number),
        None => refuse(messages.exponent),
    }
}

fn unknown<T>(first: Option<char>, rest: &str) -> Result<T, Failure> {
    // Each byte of a non-ASCII first character is replaced separately.
    let first: String = match first {
        Some(ascii) if ascii.is_ascii() => ascii.into(),
        Some(other) => "\u{fffd}".repeat(other.len_utf8()),
        None => String::new(),
    };
    refuse(format!("units.parse: unit {first}{rest} not recognized"))
}

/// Factor and power of ten of a unit. `m` is a thousandth, `M` a million.
fn unit_factor(first: Option<char>, rest: &str) -> Option<(BigInt, i64)> {
    match (first, rest) {
        (None, "") => Some((BigInt::from(1), 0)),
        (Some('m'), "") => Some(thousandth()),
        (Some(letter), "" | "i") => {
            let factor = factor(letter.to_ascii_lowercase(), rest == "i")?;
            Some((BigInt::from(factor), 0))
        }
        _ => None,
    }
}

/// Exact value of the float nearest to a thousandth. As in OPA, `1000m` is not quite 1.
fn thousandth() -> (BigInt, i64) {
    const MANTISSA: u64 = 1_152_921_504_606_847;
    const EXPONENT: u8 = 60;
    // Two to the power of -60 equals five to the power of 60, shifted by 60 decimal places.
    let fives = BigInt::from(5).pow(EXPONENT.into());
    (fives * MANTISSA, -i64::from(EXPONENT))
}

fn parse_bytes(_call: &mut Call<'_>, operands: &[Value]) -> CallResult {
    let messages = Messages {
        spaces: "units.parse_bytes: spaces not allowed in resource strings",
        exponent: "units.parse_bytes: exponent too large",
        amount: "units.parse_bytes: no byte amount provided",
        number: "units.parse_bytes: could not parse byte amount to a number",
    };
    let text = lowered(text(operands, 1)?).replace('"', "");
    let (number, unit) = measured(&text, &messages)?;
    let mut letters = unit.chars();
    let factor = match (letters.next(), letters.as_str()) {
        (None, _) => Some(1),
        (Some(letter), "" | "b") => factor(letter, false),
        (Some(letter), "i" | "ib") => factor(letter, true),
        _ => None,
    };
    let Some(factor) = factor else {
        return refuse(format!(
            "units.parse_bytes: byte unit {unit} not recognized"
        ));
    };
    let Some(decimal) = Decimal::parse(number) else {
        return refuse(messages.number);
    };
    // Bytes are computed as floats, and fractions of a byte are dropped.
    let amount = Number::parse(&format!("{}e{}", decimal.digits, decimal.power));
    let bytes = amount.map(|amount| amount.whole_product(&Number::from(factor)));
    match bytes {
        Some(Ok(bytes)) => answer(Number::from(bytes)),
        _ => refuse(messages.exponent),
    }
}
