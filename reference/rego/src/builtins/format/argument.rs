//! Arguments of a format.

use std::borrow::Cow;

use num_bigint::BigInt;

use crate::Value;
use crate::value::{Array, Object};

/// Operand of a directive.
pub(in crate::builtins) enum Argument<'v> {
    Nil,
    Bool(bool),
    Integer(i64, &'static str),
    /// An integer of any size.
    Big(BigInt),
    Float(f64),
    Complex(f64, f64),
    Text(Cow<'v, [u8]>, &'static str),
    /// A document array.
    List(&'v Array),
    /// A document object.
    Map(&'v Object),
}

/// Type name of document values in messages.
pub(in crate::builtins) const ANY: &str = "interface {}";

/// Type name of document arrays.
pub(in crate::builtins) const LIST: &str = "[]interface {}";

/// Type name of document objects.
pub(in crate::builtins) const MAP: &str = "map[string]interface {}";

/// Type name of document numbers, which are strings.
pub(in crate::builtins) const NUMBER: &str = "json.Number";

impl<'v> Argument<'v> {
    pub(in crate::builtins) fn text(text: impl Into<Cow<'v, [u8]>>) -> Self {
        Self::Text(text.into(), "string")
    }

    /// Converts a document value; numbers are strings.
    pub(in crate::builtins) fn of_document(value: &'v Value) -> Self {
        match value {
            Value::Null => Self::Nil,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => match number.text() {
                Cow::Borrowed(text) => Self::Text(text.as_bytes().into(), NUMBER),
                Cow::Owned(text) => Self::Text(text.into_bytes().into(), NUMBER),
            },
            Value::String(text) => Self::text(text.as_bytes()),
            Value::Bytes(bytes) => Self::text(bytes.as_bytes()),
            Value::Array(items) => Self::List(items),
            Value::Object(members) => Self::Map(members),
            // JSON documents have no sets.
            Value::Set(_) => Self::Nil,
        }
    }

    /// Returns the type name.
    pub(in crate::builtins) fn kind(&self) -> &'static str {
        match self {
            Self::Nil => "<nil>",
            Self::Bool(_) => "bool",
            Self::Integer(_, kind) | Self::Text(_, kind) => kind,
            Self::Big(_) => "*big.Int",
            Self::Float(_) => "float64",
            Self::Complex(..) => "complex128",
            Self::List(_) => LIST,
            Self::Map(_) => MAP,
        }
    }
}
