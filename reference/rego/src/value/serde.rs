//! `serde` support of values.

use serde::ser::{Error as _, Serialize, Serializer};

use super::Value;
use super::write::distinct_members;

/// Sets become sequences, and keys that are not strings become their JSON text.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Values that rules create can be nested deeper than parsed ones.
        stacker::maybe_grow(64 << 10, 1 << 20, || match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => {
                let number: serde_json::Number = number.text().parse().map_err(S::Error::custom)?;
                number.serialize(serializer)
            }
            Self::String(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => serializer.serialize_str(&bytes.to_lossy()),
            Self::Array(items) => serializer.collect_seq(items.iter()),
            Self::Set(members) => serializer.collect_seq(members.iter()),
            Self::Object(members) => {
                let written = distinct_members(members, usize::MAX).map_err(S::Error::custom)?;
                let members = written.as_ref().unwrap_or(members);
                let named = members.iter().map(|(key, member)| match key.as_lossy() {
                    Some(name) => (name.into_owned(), member),
                    None => (key.to_string(), member),
                });
                serializer.collect_map(named)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use rstest::rstest;
    use serde_json::json;

    use super::Value;
    use crate::value::{Set, from_json};

    #[rstest]
    #[case::null("null")]
    #[case::boolean("true")]
    #[case::string(r#""a\"b\n\u0000é""#)]
    #[case::long_number("12345678901234567890123456789.5")]
    #[case::large_number("1e400")]
    #[case::negative_zero("-0")]
    #[case::empty_array("[]")]
    #[case::empty_object("{}")]
    #[case::nested(r#"[1,[{"a":{"b":[null,false]}}],"c"]"#)]
    fn documents_are_the_same_in_both_worlds(#[case] text: &str) -> Result<(), Box<dyn Error>> {
        let value = from_json(text.as_bytes())?;
        let read: serde_json::Value = serde_json::from_str(text)?;
        assert_eq!(serde_json::to_value(&value)?, read);
        Ok(())
    }

    #[test]
    fn sets_and_other_keys_become_what_json_has() -> Result<(), Box<dyn Error>> {
        let set = Value::from(Set::from([Value::from(2), Value::from(1)]));
        let members = [(Value::from(3), set.clone()), (set, Value::Null)];
        let object = Value::Object(members.into_iter().collect());
        let expected = json!({"3": [1, 2], "[1,2]": null});
        assert_eq!(serde_json::to_value(&object)?, expected);
        Ok(())
    }

    #[test]
    fn deep_values_do_not_overflow_the_stack() -> Result<(), Box<dyn Error>> {
        let deep = (0..5_000).fold(Value::Null, |inner, _| Value::from(vec![inner]));
        let text = serde_json::to_string(&deep)?;
        assert_eq!(text.len(), 2 * 5_000 + "null".len());
        Ok(())
    }
}
