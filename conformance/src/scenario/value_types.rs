//! Value types, and their names in transcripts.

use serde_json::Value;

use crate::scenario::Kind;
use crate::scenario::numbers::canonical_number;

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Boolean => "boolean",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Amount => "number from 0",
        Kind::Positive => "integer from 1",
        Kind::String => "string",
        Kind::Text => "text",
        Kind::Time => "time",
        Kind::Array => "array",
        Kind::Object => "object",
        Kind::Absent => "absent",
    }
}

/// Formats the names of value types for transcripts.
pub(crate) fn kind_names(kinds: &[Kind]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind_name(*kind)).collect();
    names.join(" or ")
}

impl Kind {
    /// Whether a value is of this kind.
    pub(crate) fn is(self, found: Option<&Value>) -> bool {
        match (self, found) {
            (Self::Absent, None)
            | (Self::Null, Some(Value::Null))
            | (Self::Boolean, Some(Value::Bool(_)))
            | (Self::Number, Some(Value::Number(_)))
            | (Self::String, Some(Value::String(_)))
            | (Self::Array, Some(Value::Array(_)))
            | (Self::Object, Some(Value::Object(_))) => true,
            (Self::Integer, Some(Value::Number(number))) => is_integer(&canonical_number(number)),
            (Self::Amount, Some(Value::Number(number))) => !number.to_string().starts_with('-'),
            (Self::Positive, Some(Value::Number(number))) => {
                let text = canonical_number(number);
                is_integer(&text) && !text.starts_with(['-', '0'])
            }
            (Self::Text, Some(Value::String(text))) => !text.is_empty(),
            (Self::Time, Some(Value::String(text))) => is_time(text) || is_http_date(text),
            _ => false,
        }
    }
}

/// Whether a number in canonical form has no fraction.
fn is_integer(number: &str) -> bool {
    !number.contains('.') && !number.contains("e-")
}

/// Whether a string is a point in time in the HTTP format.
fn is_http_date(text: &str) -> bool {
    httpdate::parse_http_date(text).is_ok()
}

/// Whether a string is a point in time after the year 1 in the format of RFC 3339.
fn is_time(text: &str) -> bool {
    let shape: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    let Some(rest) = shape.strip_prefix("0000-00-00T00:00:00") else {
        return false;
    };
    let fraction = rest
        .strip_prefix('.')
        .map(|rest| (rest, rest.trim_start_matches('0')));
    let zone = match fraction {
        None => rest,
        Some((rest, zone)) if zone.len() < rest.len() => zone,
        Some(_) => return false,
    };
    let in_range = |range: std::ops::Range<usize>, low: u16, high: u16| {
        let number = text.get(range).and_then(|digits| digits.parse().ok());
        number.is_some_and(|number: u16| (low..=high).contains(&number))
    };
    matches!(zone, "Z" | "+00:00" | "-00:00")
        && in_range(0..4, 2, 9999)
        && in_range(5..7, 1, 12)
        && in_range(8..10, 1, 31)
        && in_range(11..13, 0, 23)
        && in_range(14..16, 0, 59)
        && in_range(17..19, 0, 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case::integer(Kind::Integer, json!([0, -7, 1.0, 1e3]), json!([0.5, -1.25, "1", null]))]
    #[case::amount(Kind::Amount, json!([0, 0.5, 1_200]), json!([-1, -0.5, "1", null]))]
    #[case::positive(Kind::Positive, json!([1, 20, 2.0]), json!([0, -3, 1.5, "1", null]))]
    #[case::text(Kind::Text, json!(["a", " "]), json!(["", 1, null, []]))]
    #[case::time(
        Kind::Time,
        json!([
            "2026-11-22T12:00:00Z",
            "2026-11-22T12:00:00.123456789Z",
            "1999-12-31T23:59:60+01:30",
            "Sun, 22 Nov 2026 12:00:00 GMT",
        ]),
        json!([
            "0001-01-01T00:00:00Z",
            "2026-11-22",
            "2026-11-22 12:00:00Z",
            "2026-11-22T12:00:00",
            "2026-11-22T12:00:00.Z",
            "2026-13-22T12:00:00Z",
            "2026-11-22T24:00:00Z",
            "yesterday",
            "",
            1_700_000_000,
            null,
        ])
    )]
    fn values_are_of_narrower_kinds_too(
        #[case] kind: Kind,
        #[case] valid: Value,
        #[case] invalid: Value,
    ) {
        for (values, expected) in [(valid, true), (invalid, false)] {
            for value in values.as_array().into_iter().flatten() {
                assert_eq!(kind.is(Some(value)), expected, "{kind:?} {value}");
            }
        }
        assert!(!kind.is(None));
    }
}
