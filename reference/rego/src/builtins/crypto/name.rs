//! Distinguished names.

use std::collections::BTreeMap;

use super::any_value::AnyValue;
use super::scalar_value::{identifier_value, list, text};
use crate::Value;
use crate::builtins::keys::reader::{Element, Reader, SEQUENCE, SET, identifier};

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

/// Converts a name to an object; `None` if a value is not a string.
pub(super) fn value(der: &[u8]) -> Option<Value> {
    converted(der, |(tag, bytes), _| {
        text((tag, bytes)).map(AnyValue::Text)
    })
}

/// Converts a name in a request, whose values may have any type.
pub(super) fn value_in_request(der: &[u8]) -> Option<Value> {
    converted(der, AnyValue::of)
}

/// Converts a name whose values `convert` converts: their element, and a reader of it.
fn converted<'d>(
    der: &'d [u8],
    convert: impl Fn(Element<'d>, Reader<'d>) -> Option<AnyValue>,
) -> Option<Value> {
    let mut names = Vec::new();
    let mut parts: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    let mut sets = Reader::new(der).nested(SEQUENCE)?;
    while !sets.is_empty() {
        let mut set = sets.nested(SET)?;
        while !set.is_empty() {
            let mut attribute = set.nested(SEQUENCE)?;
            let kind = attribute.identifier()?;
            let element = attribute;
            let value = convert(attribute.any()?, element)?;
            if let [2, 5, 4, part] = *identifier(kind)?
                && let AnyValue::Text(text) = &value
            {
                let text = Value::from(text.as_str());
                parts.entry(part).or_default().push(text);
            }
            names.push(Value::object([
                ("Type", identifier_value(kind)?),
                ("Value", value.into_value()),
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
