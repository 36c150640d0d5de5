//! The header members that determine how a token is signed.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::Value;
use crate::value::from_json;

/// Returns the members `alg` and `typ` of a header. Of duplicates the first counts, and unescaped
/// names precede escaped ones, whereas readers of a token use the last.
pub(super) fn of(header: &str, members: &Value) -> (Option<Value>, Option<Value>) {
    let first = serde_json::from_str::<First>(header).unwrap_or_default();
    let member = |[unescaped, escaped]: [Option<Value>; 2], name| {
        let first = unescaped.or(escaped);
        first.or_else(|| members.get(name).cloned())
    };
    (member(first.algorithm, "alg"), member(first.kind, "typ"))
}

/// First members of each name: with unescaped names, and with escaped ones.
#[derive(Debug, Default)]
struct First {
    algorithm: [Option<Value>; 2],
    kind: [Option<Value>; 2],
}

/// Name of a member, and whether it has escapes.
struct Name(String, bool);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> Result<Name, E> {
        Ok(Name(name.to_owned(), false))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Name, E> {
        Ok(Name(name.to_owned(), true))
    }
}

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(FirstVisitor)
    }
}

struct FirstVisitor;

impl<'de> Visitor<'de> for FirstVisitor {
    type Value = First;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the header of a token")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<First, A::Error> {
        let mut first = First::default();
        while let Some(Name(name, is_escaped)) = members.next_key()? {
            let places = match name.as_str() {
                "alg" => &mut first.algorithm,
                "typ" => &mut first.kind,
                _ => {
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value: serde_json::Value = members.next_value()?;
            let [unescaped, escaped] = places;
            let place = if is_escaped { escaped } else { unescaped };
            if place.is_none() {
                *place = from_json(value.to_string().as_bytes()).ok();
            }
        }
        Ok(first)
    }
}
