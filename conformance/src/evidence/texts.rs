//! Formats of strings in evidence. Evidence may come from anybody, and reports insert its strings
//! where arbitrary ones would do harm.

use chrono::DateTime;
use serde::{Deserialize, Deserializer, de::Error};

/// Deserializes a time in RFC 3339 format.
pub(super) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let time = Option::<String>::deserialize(deserializer)?;
    match time.as_deref().map(DateTime::parse_from_rfc3339) {
        Some(Err(_)) => Err(D::Error::custom("invalid time: expected one of RFC 3339")),
        Some(Ok(_)) | None => Ok(time),
    }
}

/// Deserializes a rule id.
pub(super) fn rule<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let rule = String::deserialize(deserializer)?;
    match is_id(&rule) {
        true => Ok(rule),
        false => Err(D::Error::custom(
            "invalid rule: expected an id of letters, digits, `-`, `_`, `.` and `/`",
        )),
    }
}

fn is_id(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    !text.is_empty() && text.chars().all(part)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::super::{ChosenRule, RunStarted};

    #[rstest]
    #[case::id("engine/v1/data/get-document", true)]
    #[case::empty("", false)]
    #[case::command("a\n::error::x", false)]
    #[case::invisible("a\u{202e}b", false)]
    #[case::quote("a\"b", false)]
    fn ids_are_no_other_texts(#[case] id: &str, #[case] valid: bool) {
        let rule = |id: &str| json!({"rule": id, "level": "rule", "setup": null});
        let read = serde_json::from_value::<ChosenRule>(rule(id));
        assert_eq!(read.is_ok(), valid, "{id:?} {read:?}");
    }

    #[rstest]
    #[case::time(json!("2026-12-01T10:00:00Z"), true)]
    #[case::none(Value::Null, true)]
    #[case::word(json!("yesterday"), false)]
    #[case::invisible(json!("2026-12-01T10:00:00Z\u{202e}"), false)]
    #[case::command(json!("::error::x"), false)]
    fn times_are_no_other_texts(#[case] at: Value, #[case] valid: bool) {
        let started = |at: Value| {
            let target = json!({"name": "a", "control": null, "engine": null, "capabilities": []});
            json!({"run": "c", "suite": "0.1.0", "at": at, "target": target, "seed": 1, "chosen": []})
        };
        let read = serde_json::from_value::<RunStarted>(started(at.clone()));
        assert_eq!(read.is_ok(), valid, "{at} {read:?}");
    }
}
