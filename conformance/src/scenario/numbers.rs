//! JSON numbers, compared by value: no document prescribes their spelling.

use serde_json::{Number, Value};

/// Largest exponent, positive or negative, that is written out as zeros or decimal places.
const DIGITS: usize = 40;

/// Formats a number in canonical form: `1` for `1.0` and for `10e-1`.
pub(crate) fn canonical_number(number: &Number) -> String {
    let text = number.to_string();
    normalize(&text).unwrap_or(text)
}

/// Whether two values are equal, numbers by their value.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            canonical_number(left) == canonical_number(right)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let found = |(name, left)| right.get(name).is_some_and(|right| same(left, right));
            left.len() == right.len() && left.iter().all(found)
        }
        _ => left == right,
    }
}

/// Formats a number by its value; `None` for an exponent that is out of range.
fn normalize(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", mantissa),
    };
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = format!("{integer}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let length = |text: &str| i64::try_from(text.len()).ok();
    let power = exponent
        .parse::<i64>()
        .ok()?
        .checked_sub(length(fraction)?)?
        .checked_add(length(digits)? - length(significant)?)?;
    let places = usize::try_from(power.unsigned_abs()).ok()?;
    Some(if places > DIGITS {
        format!("{sign}{significant}e{power}")
    } else if power >= 0 {
        format!("{sign}{significant}{}", "0".repeat(places))
    } else {
        let start = significant.len().saturating_sub(places);
        let (integer, fraction) = significant.split_at_checked(start)?;
        let integer = if integer.is_empty() { "0" } else { integer };
        format!("{sign}{integer}.{fraction:0>places$}")
    })
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("0", "0")]
    #[case("-0.0e7", "0")]
    #[case("1.0", "1")]
    #[case("10e-1", "1")]
    #[case("1E2", "100")]
    #[case("-1.50", "-1.5")]
    #[case("0.05", "0.05")]
    #[case("5e-2", "0.05")]
    #[case("1.25e1", "12.5")]
    #[case("1e400", "1e400")]
    #[case("10.0e399", "1e400")]
    #[case("9007199254740993", "9007199254740993")]
    #[case("1e99999999999999999999", "1e+99999999999999999999")]
    fn numbers_are_told_by_their_value(#[case] text: &str, #[case] expected: &str) {
        let number: Number = serde_json::from_str(text).expect(text);
        assert_eq!(canonical_number(&number), expected);
    }

    #[rstest]
    #[case::spelling(r#"[1, {"a": 2.0}]"#, r#"[1.0, {"a": 2}]"#, true)]
    #[case::value(r#"[1, {"a": 2.5}]"#, r#"[1.0, {"a": 2}]"#, false)]
    #[case::key(r#"{"a": 1}"#, r#"{"b": 1}"#, false)]
    #[case::more_members(r#"{"a": 1}"#, r#"{"a": 1, "b": 1}"#, false)]
    #[case::more_items(r#"[1]"#, r#"[1, 1]"#, false)]
    #[case::string(r#""1""#, "1", false)]
    fn values_are_the_same_whatever_the_spelling_of_numbers(
        #[case] left: &str,
        #[case] right: &str,
        #[case] expected: bool,
    ) {
        let read = |text: &str| -> Value { serde_json::from_str(text).expect(text) };
        assert_eq!(same(&read(left), &read(right)), expected);
    }
}
