//! Durations such as `1h30m`, with days, weeks and years.

use super::quoted;
use crate::value::quoted_bytes;

const HOUR: i128 = 3_600_000_000_000;

/// Returns the nanoseconds of a unit.
fn unit(name: &str) -> Option<i128> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => HOUR,
        _ => return None,
    })
}

/// Maximum magnitude of a 64-bit integer.
const MOST: i128 = 1 << 63;

/// Number before a unit, and the rest of the input.
struct Amount<'t> {
    integer: &'t str,
    fraction: &'t str,
    rest: &'t str,
}

impl<'t> Amount<'t> {
    /// Parses digits with an optional decimal point.
    fn read(text: &'t str) -> Option<Self> {
        let digits =
            |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (integer, rest) = text.split_at(digits(text));
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(digits(rest)),
            None => ("", rest),
        };
        let is_empty = integer.is_empty() && fraction.is_empty();
        (!is_empty).then_some(Self {
            integer,
            fraction,
            rest,
        })
    }

    /// Returns the nanoseconds, if they do not overflow. Fractions are computed as floats.
    fn nanoseconds(&self, size: i128) -> Option<i128> {
        let integer = match self.integer {
            "" => 0,
            digits => digits.parse::<i128>().ok()?,
        };
        let integer = integer
            .checked_mul(size)
            .filter(|integer| *integer <= MOST)?;
        let (mut part, mut scale) = (0i64, 1.0f64);
        for digit in self.fraction.bytes() {
            let more = part.checked_mul(10);
            let Some(more) = more.and_then(|more| more.checked_add((digit - b'0').into())) else {
                break;
            };
            (part, scale) = (more, scale * 10.0);
        }
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "the digits behind the point count as a float, cut off at nanoseconds"
        )]
        let part = (part as f64 * (size as f64 / scale)) as i128;
        Some(integer + part).filter(|sum| *sum <= MOST)
    }

    /// Returns the product of the number and the hours of a unit, as a float in its shortest form.
    fn hours(&self, hours: f64) -> Option<String> {
        let amount = format!("{}.{}", self.integer, self.fraction);
        let amount: f64 = format!("0{amount}0").parse().ok()?;
        Some((amount * hours).to_string())
    }
}

/// Returns the hours of a day, week or year.
fn hours(unit: &str) -> Option<f64> {
    match unit {
        "d" => Some(24.0),
        "w" => Some(168.0),
        "y" => Some(8760.0),
        _ => None,
    }
}

/// Whether a string has the syntax of durations with days. Numbers of days have at most one decimal
/// point; other numbers are checked later.
fn is_extended(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
        let digits = rest.get(..rest.len() - unit.len()).unwrap_or_default();
        let name = ["ms", "us", "µs", "ns"]
            .into_iter()
            .find(|name| unit.starts_with(name));
        let length = match (name, unit.bytes().next()) {
            (Some(name), _) => name.len(),
            (None, Some(b'a'..=b'z')) => 1,
            _ => return false,
        };
        let (name, tail) = unit.split_at(length);
        if digits.is_empty() || (hours(name).is_some() && digits.parse::<f64>().is_err()) {
            return false;
        }
        rest = tail;
    }
    true
}

/// Parses a duration into nanoseconds.
///
/// # Errors
/// When the string is not a valid duration.
pub(super) fn parsed(text: &str) -> Result<i64, String> {
    let extended = text.contains(['d', 'w', 'y']);
    let rendered = match extended {
        true => quoted_bytes(text.as_bytes()),
        false => quoted(text),
    };
    let invalid = || format!("time: invalid duration {rendered}");
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if extended && !is_extended(unsigned) {
        return Err(invalid());
    }
    if unsigned == "0" {
        return Ok(0);
    }
    if unsigned.is_empty() {
        return Err(invalid());
    }
    let mut rest = unsigned;
    let mut sum = 0i128;
    while !rest.is_empty() {
        let amount = Amount::read(rest).ok_or_else(invalid)?;
        let end = amount.rest.find(|c: char| c == '.' || c.is_ascii_digit());
        let (name, tail) = amount.rest.split_at(end.unwrap_or(amount.rest.len()));
        if !amount.integer.is_empty()
            && !amount
                .integer
                .parse()
                .is_ok_and(|integer: i128| integer <= MOST)
        {
            return Err(invalid());
        }
        let part = match (unit(name), hours(name)) {
            // In durations with days, only one notation of micro is valid.
            (Some(_), _) if extended && name.starts_with('\u{3bc}') => None,
            (_, Some(hours)) => {
                let text = amount.hours(hours).ok_or_else(invalid)?;
                Amount::read(&text).and_then(|amount| amount.nanoseconds(HOUR))
            }
            (Some(size), None) => amount.nanoseconds(size),
            (None, None) if name.is_empty() => {
                return Err(format!("time: missing unit in duration {rendered}"));
            }
            (None, None) => {
                let name = quoted(name);
                return Err(format!("time: unknown unit {name} in duration {rendered}"));
            }
        };
        sum += part.ok_or_else(invalid)?;
        if sum > MOST {
            return Err(invalid());
        }
        rest = tail;
    }
    let sum = if text.starts_with('-') { -sum } else { sum };
    i64::try_from(sum).map_err(|_| invalid())
}
