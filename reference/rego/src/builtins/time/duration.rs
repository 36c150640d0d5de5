//! Durations such as `1h30m`, with days, weeks and years.

use super::quoted;

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
        "d" => 24 * HOUR,
        "w" => 7 * 24 * HOUR,
        "y" => 365 * 24 * HOUR,
        _ => return None,
    })
}

/// Fractions count to this many digits.
const MAX_FRACTION: usize = 18;

/// The nanoseconds of a duration.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn parsed(text: &str) -> Result<i64, String> {
    let shown = quoted(text);
    let invalid = || format!("time: invalid duration {shown}");
    let extended = text.contains(['d', 'w', 'y']);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "0" {
        return Ok(0);
    }
    if unsigned.is_empty() {
        return Err(invalid());
    }
    let mut rest = unsigned;
    let mut sum = 0i128;
    while !rest.is_empty() {
        let digits =
            |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (whole, behind) = rest.split_at(digits(rest));
        let (fraction, behind) = match behind.strip_prefix('.') {
            Some(behind) => behind.split_at(digits(behind)),
            None => ("", behind),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let end = behind.find(|c: char| c == '.' || c.is_ascii_digit());
        let (name, behind) = behind.split_at(end.unwrap_or(behind.len()));
        let size = match unit(name) {
            Some(size) => size,
            None if extended => return Err(invalid()),
            None if name.is_empty() => {
                return Err(format!("time: missing unit in duration {shown}"));
            }
            None => {
                let name = quoted(name);
                return Err(format!("time: unknown unit {name} in duration {shown}"));
            }
        };
        let whole: i128 = match whole {
            "" => 0,
            digits => digits.parse().map_err(|_| invalid())?,
        };
        let fraction = fraction.get(..MAX_FRACTION).unwrap_or(fraction);
        let scale = 10i128.pow(u32::try_from(fraction.len()).unwrap_or(0));
        let part: i128 = fraction.parse().unwrap_or(0);
        sum = whole
            .checked_mul(size)
            .and_then(|whole| sum.checked_add(whole + part * size / scale))
            .ok_or_else(invalid)?;
        rest = behind;
    }
    let sum = if text.starts_with('-') { -sum } else { sum };
    i64::try_from(sum).map_err(|_| invalid())
}
