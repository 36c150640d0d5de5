//! Values of any type in names and attributes of certificate requests.

use super::fields::time;
use super::scalar_value::{self, bytes, identifier_value, text};
use crate::Value;
use crate::builtins::keys::reader::{
    BITS, BOOLEAN, Element, GENERALIZED_TIME, IDENTIFIER, INTEGER, OCTETS, Reader, UTC_TIME,
};

/// Bits of a tag that are not set for primitive universal types.
const OTHER_FORMS: u8 = 0xe0;

/// Value of an attribute.
pub(super) enum AnyValue {
    Text(String),
    /// Value of another type; null if the type has no representation.
    Other(Value),
}

impl AnyValue {
    /// Converts an element; `None` if it is malformed.
    pub(super) fn of((tag, contents): Element<'_>, mut element: Reader<'_>) -> Option<Self> {
        if tag & OTHER_FORMS != 0 {
            return Some(Self::Other(Value::Null));
        }
        let value = match tag {
            BOOLEAN => Value::from(element.boolean()?),
            INTEGER => Value::from(element.small_integer(INTEGER)?),
            BITS => {
                let bits = element.bit_string()?;
                Value::object([
                    ("Bytes", bytes(bits.bytes)),
                    ("BitLength", Value::from(bits.length())),
                ])
            }
            OCTETS => bytes(contents),
            IDENTIFIER => identifier_value(element.identifier()?)?,
            UTC_TIME | GENERALIZED_TIME => scalar_value::time(time(&mut element)?),
            0x0c | 0x12..=0x14 | 0x16 | 0x1e => return text((tag, contents)).map(Self::Text),
            _ => Value::Null,
        };
        Some(Self::Other(value))
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Text(text) => Value::from(text),
            Self::Other(value) => value,
        }
    }
}
