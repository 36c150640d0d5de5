//! DER elements: tag, length and value.

use der::Decode;
use der::asn1::AnyRef;

use crate::Value;
use crate::value::lossy;

/// Tags of universal types and of context-specific positions.
pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BITS: u8 = 0x03;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const IDENTIFIER: u8 = 0x06;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

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

/// Decodes an ASN.1 string of any type that X.509 names allow.
pub(super) fn text((tag, bytes): Element<'_>) -> Option<String> {
    let ascii = |is_allowed: fn(u8) -> bool| {
        let is_valid = bytes.iter().all(|byte| is_allowed(*byte));
        is_valid.then(|| lossy(bytes).into_owned())
    };
    match tag {
        0x0c => String::from_utf8(bytes.to_vec()).ok(),
        0x12 => ascii(|byte| byte.is_ascii_digit() || byte == b' '),
        0x13 => ascii(is_printable),
        0x16 => ascii(|byte| byte.is_ascii()),
        // T.61 is commonly encoded as Latin 1.
        0x14 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
        0x1e => basic_plane(bytes),
        _ => None,
    }
}

/// Whether a byte may stand in a printable string; `*` and `&` are common, though not allowed.
fn is_printable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&byte)
}

/// Decodes characters of two bytes each, of which the last may be NUL. Surrogates and noncharacters
/// are refused.
fn basic_plane(bytes: &[u8]) -> Option<String> {
    let bytes = match bytes {
        [text @ .., 0, 0] => text,
        text => text,
    };
    let characters = bytes.chunks(2).map(|pair| match pair {
        [high, low] => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    });
    let is_assigned = |unit: &u16| !matches!(unit, 0xfffe | 0xffff | 0xfdd0..=0xfdef);
    let characters = characters.map(|unit| char::from_u32(u32::from(unit.filter(is_assigned)?)));
    characters.collect()
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

    /// Like Go, refuses lengths with redundant bytes.
    #[test]
    fn only_the_shortest_form_is_read() {
        let element: Element<'_> = (SEQUENCE, &[5]);
        assert_eq!(first(&[0x30, 1, 5, 6]), Some((element, [6].as_slice())));
        assert_eq!(first(&[0x30, 0x81, 1, 5]), None);
    }
}
