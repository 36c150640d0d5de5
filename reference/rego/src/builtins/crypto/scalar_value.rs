//! Values of the contents of elements.

use chrono::{DateTime, FixedOffset, SecondsFormat};

use crate::Value;
use crate::builtins::keys::reader::{Element, identifier};
use crate::builtins::pem::encode;
use crate::value::lossy;

/// Encodes bytes as a Base64 string.
pub(super) fn bytes(bytes: &[u8]) -> Value {
    Value::from(encode(bytes))
}

/// Formats a time as in RFC 3339.
pub(super) fn time(time: DateTime<FixedOffset>) -> Value {
    Value::from(time.to_rfc3339_opts(SecondsFormat::Secs, true))
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
