//! DER elements: tag, length and value.

use der::asn1::AnyRef;
use der::{Decode, Tag};

use crate::Value;

/// Tags of universal types and of context-specific positions.
pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BITS: u8 = 0x03;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const IDENTIFIER: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;

/// Tag and value bytes.
pub(super) type Element<'d> = (u8, &'d [u8]);

/// Parses the first element and returns the rest.
pub(super) fn first(der: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (element, rest) = AnyRef::from_der_partial(der).ok()?;
    // A tag of more than one byte does not equal any of the known ones.
    Some(((*der.first()?, element.value()), rest))
}

/// Parses bytes that consist entirely of elements.
pub(super) fn all(mut der: &[u8]) -> Option<Vec<Element<'_>>> {
    let mut elements = Vec::new();
    while !der.is_empty() {
        let (element, rest) = first(der)?;
        elements.push(element);
        der = rest;
    }
    Some(elements)
}

/// Returns the value of the only element, which must have this tag.
pub(super) fn only(der: &[u8], tag: u8) -> Option<&[u8]> {
    match first(der)? {
        ((found, value), []) if found == tag => Some(value),
        _ => None,
    }
}

/// Returns the elements of the sequence that is the only element.
pub(super) fn sequence(der: &[u8]) -> Option<Vec<Element<'_>>> {
    all(only(der, SEQUENCE)?)
}

/// Decodes the numbers of an object identifier.
pub(super) fn identifier(bytes: &[u8]) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    let mut number = 0_u64;
    for byte in bytes {
        number = number
            .checked_mul(128)?
            .checked_add(u64::from(byte & 0x7f))?;
        if byte & 0x80 != 0 {
            continue;
        }
        if numbers.is_empty() {
            let first = (number / 40).min(2);
            numbers.push(first);
            number -= first * 40;
        }
        numbers.push(number);
        number = 0;
    }
    let complete = bytes.last().is_some_and(|last| last & 0x80 == 0);
    complete.then_some(numbers)
}

/// Formats an object identifier in dotted notation.
pub(super) fn dotted(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(".")
}

/// Converts an object identifier to an array of numbers.
pub(super) fn identifier_value(bytes: &[u8]) -> Option<Value> {
    let numbers = identifier(bytes)?;
    Some(Value::from(
        numbers.into_iter().map(Value::from).collect::<Vec<_>>(),
    ))
}

/// Decodes a non-negative integer that fits `i64`.
pub(super) fn small(bytes: &[u8]) -> Option<i64> {
    let integer = AnyRef::new(Tag::Integer, bytes).ok()?;
    integer
        .decode_as::<i64>()
        .ok()
        .filter(|number| *number >= 0)
}

/// Decodes an ASN.1 string of any type that X.509 names allow.
pub(super) fn text((tag, bytes): Element<'_>) -> Option<String> {
    match tag {
        // UTF-8, and the types that are ASCII.
        0x0c | 0x12 | 0x13 | 0x16 | 0x1a => String::from_utf8(bytes.to_vec()).ok(),
        // T.61 is commonly encoded as Latin 1.
        0x14 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
        0x1e => {
            let units = bytes.chunks(2).map(|pair| match pair {
                [high, low] => Some(u16::from_be_bytes([*high, *low])),
                _ => None,
            });
            String::from_utf16(&units.collect::<Option<Vec<u16>>>()?).ok()
        }
        _ => None,
    }
}

/// Converts values to an array; null when there are none.
pub(super) fn list(values: Vec<Value>) -> Value {
    if values.is_empty() {
        return Value::Null;
    }
    Value::from(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Like Go, refuses lengths and numbers with redundant bytes.
    #[test]
    fn only_the_shortest_form_is_read() {
        let element: Element<'_> = (SEQUENCE, &[5]);
        assert_eq!(first(&[0x30, 1, 5, 6]), Some((element, [6].as_slice())));
        assert_eq!(first(&[0x30, 0x81, 1, 5]), None);
        assert_eq!(small(&[1]), Some(1));
        assert_eq!(small(&[0, 0x80]), Some(128));
        assert_eq!(small(&[0, 1]), None);
        assert_eq!(small(&[0x80]), None);
    }
}
