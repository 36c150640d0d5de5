//! Distinguished names.

use std::collections::BTreeMap;

use super::tlv::{self, list};
use crate::Value;

/// Name attributes with a separate member, by the last number of their OID.
const PARTS: [(u64, &str); 7] = [
    (6, "Country"),
    (7, "Locality"),
    (8, "Province"),
    (9, "StreetAddress"),
    (10, "Organization"),
    (11, "OrganizationalUnit"),
    (17, "PostalCode"),
];

/// Converts a name to an object.
pub(super) fn value(der: &[u8]) -> Option<Value> {
    converted(der, |_| None)
}

/// Converts a name in a request: as in OPA, values that are not universal primitives are null.
pub(super) fn value_in_request(der: &[u8]) -> Option<Value> {
    converted(der, |(tag, _)| (tag & 0xe0 != 0).then_some(Value::Null))
}

/// Converts a name. `other` converts values that are not strings; a name with one that it does not
/// convert is refused.
fn converted(der: &[u8], other: impl Fn(tlv::Element<'_>) -> Option<Value>) -> Option<Value> {
    let mut names = Vec::new();
    let mut parts: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for (_, set) in tlv::sequence(der)? {
        for (_, attribute) in tlv::all(set)? {
            let [(tlv::IDENTIFIER, kind), written] = *tlv::all(attribute)? else {
                return None;
            };
            let text = tlv::text(written).map(Value::from);
            let text = text.or_else(|| other(written))?;
            let numbers = tlv::identifier(kind)?;
            if let [2, 5, 4, part] = *numbers
                && text != Value::Null
            {
                parts.entry(part).or_default().push(text.clone());
            }
            names.push(Value::object([
                ("Type", tlv::identifier_value(kind)?),
                ("Value", text),
            ]));
        }
    }
    let mut last = |part: u64| {
        let values = parts.remove(&part).unwrap_or_default();
        values.into_iter().next_back().unwrap_or(Value::from(""))
    };
    let mut members = vec![
        ("CommonName", last(3)),
        ("SerialNumber", last(5)),
        ("ExtraNames", Value::Null),
        ("Names", list(names)),
    ];
    for (part, name) in PARTS {
        members.push((name, list(parts.remove(&part).unwrap_or_default())));
    }
    Some(Value::object(members))
}
