//! Durations such as `1h30m`, with days, weeks and years.

use super::quoted;
use crate::value::quoted_bytes;

const HOUR: i128 = 3_600_000_000_000;

/// The nanoseconds of a unit.
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

/// The largest value that fits into an integer of 64 bits, without its sign.
const MOST: i128 = 1 << 63;

/// A number before a unit, and what stands behind it.
struct Amount<'t> {
    whole: &'t str,
    fraction: &'t str,
    behind: &'t str,
}

impl<'t> Amount<'t> {
    /// Reads digits, perhaps with a point between, before or behind them.
    fn read(text: &'t str) -> Option<Self> {
        let digits =
            |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (whole, behind) = text.split_at(digits(text));
        let (fraction, behind) = match behind.strip_prefix('.') {
            Some(behind) => behind.split_at(digits(behind)),
            None => ("", behind),
        };
        let is_empty = whole.is_empty() && fraction.is_empty();
        (!is_empty).then_some(Self {
            whole,
            fraction,
            behind,
        })
    }

    /// So many nanoseconds, if they are not too many. Parts are computed with as floats.
    fn nanoseconds(&self, size: i128) -> Option<i128> {
        let whole = match self.whole {
            "" => 0,
            digits => digits.parse::<i128>().ok()?,
        };
        let whole = whole.checked_mul(size).filter(|whole| *whole <= MOST)?;
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
        Some(whole + part).filter(|sum| *sum <= MOST)
    }

    /// The same number of hours, if each unit is this many: a float, in its shortest text.
    fn hours(&self, hours: f64) -> Option<String> {
        let amount = format!("{}.{}", self.whole, self.fraction);
        let amount: f64 = format!("0{amount}0").parse().ok()?;
        Some((amount * hours).to_string())
    }
}

/// Units that are hours for the calculation.
fn hours(unit: &str) -> Option<f64> {
    match unit {
        "d" => Some(24.0),
        "w" => Some(168.0),
        "y" => Some(8760.0),
        _ => None,
    }
}

/// Whether a text is made of numbers and units as durations with days are. Numbers of days have one
/// point at most, of others the first part is looked at later.
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
        let (name, behind) = unit.split_at(length);
        if digits.is_empty() || (hours(name).is_some() && digits.parse::<f64>().is_err()) {
            return false;
        }
        rest = behind;
    }
    true
}

/// The nanoseconds of a duration.
///
/// # Errors
/// The error of the text.
pub(super) fn parsed(text: &str) -> Result<i64, String> {
    let extended = text.contains(['d', 'w', 'y']);
    let shown = match extended {
        true => quoted_bytes(text.as_bytes()),
        false => quoted(text),
    };
    let invalid = || format!("time: invalid duration {shown}");
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
        let end = amount.behind.find(|c: char| c == '.' || c.is_ascii_digit());
        let (name, behind) = amount.behind.split_at(end.unwrap_or(amount.behind.len()));
        if !amount.whole.is_empty() && !amount.whole.parse().is_ok_and(|whole: i128| whole <= MOST)
        {
            return Err(invalid());
        }
        let part = match (unit(name), hours(name)) {
            // Beside days there is one way to write a micro.
            (Some(_), _) if extended && name.starts_with('\u{3bc}') => None,
            (_, Some(hours)) => {
                let text = amount.hours(hours).ok_or_else(invalid)?;
                Amount::read(&text).and_then(|amount| amount.nanoseconds(HOUR))
            }
            (Some(size), None) => amount.nanoseconds(size),
            (None, None) if name.is_empty() => {
                return Err(format!("time: missing unit in duration {shown}"));
            }
            (None, None) => {
                let name = quoted(name);
                return Err(format!("time: unknown unit {name} in duration {shown}"));
            }
        };
        sum += part.ok_or_else(invalid)?;
        if sum > MOST {
            return Err(invalid());
        }
        rest = behind;
    }
    let sum = if text.starts_with('-') { -sum } else { sum };
    i64::try_from(sum).map_err(|_| invalid())
}
