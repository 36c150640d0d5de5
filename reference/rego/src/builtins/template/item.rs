//! Template values.

use crate::Value;
use crate::builtins::format::{ANY, Argument, LIST, MAP, NUMBER, print};
use crate::builtins::{Call, Failure};
use crate::value::{Array, Object};

/// Template value.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) content: TemplateValue,
    /// Whether the value is part of a document, with the static type `interface {}`.
    pub(super) boxed: bool,
}

#[derive(Debug, Clone)]
pub(super) enum TemplateValue {
    /// No value, or `null`.
    Absent,
    Bool(bool),
    /// An integer of the template itself, and its type.
    Integer(i64, &'static str),
    Float(f64),
    Complex(f64, f64),
    /// A string, or a document number, which is a string, and its type.
    Text(Value, &'static str),
    /// An array, and its spare capacity.
    List(Array, SpareCapacity),
    Map(Object),
}

/// Capacity after the items of an array, up to which slices may extend it.
#[derive(Debug, Clone)]
pub(super) struct SpareCapacity {
    pub(super) items: Array,
    /// Number of additional empty places.
    pub(super) empty: usize,
}

impl SpareCapacity {
    pub(super) fn len(&self) -> usize {
        self.items.len() + self.empty
    }
}

/// Maximum capacity of parsed arrays, which grow to a power of two.
const MAX_GROWN: usize = 512;

impl Item {
    pub(super) const ABSENT: Self = Self {
        content: TemplateValue::Absent,
        boxed: false,
    };

    pub(super) fn from_value(content: TemplateValue) -> Self {
        Self {
            content,
            boxed: false,
        }
    }

    pub(super) fn integer(integer: i64) -> Self {
        Self::from_value(TemplateValue::Integer(integer, "int"))
    }

    pub(super) fn from_bool(value: bool) -> Self {
        Self::from_value(TemplateValue::Bool(value))
    }

    pub(super) fn text(text: &[u8]) -> Self {
        Self::from_value(TemplateValue::Text(Value::string(text), "string"))
    }

    /// Creates an item from a part of a document.
    pub(super) fn of(value: &Value) -> Self {
        let content = match value {
            Value::Bool(value) => TemplateValue::Bool(*value),
            Value::Number(number) => {
                TemplateValue::Text(Value::from(number.text().as_ref()), NUMBER)
            }
            Value::String(_) | Value::Bytes(_) => TemplateValue::Text(value.clone(), "string"),
            Value::Array(items) => {
                let length = items.len();
                let places = match length {
                    0 => 0,
                    1..=MAX_GROWN => length.next_power_of_two(),
                    _ => length,
                };
                let spare = SpareCapacity {
                    items: Array::new(),
                    empty: places - length,
                };
                TemplateValue::List(items.clone(), spare)
            }
            Value::Object(members) => TemplateValue::Map(members.clone()),
            Value::Null | Value::Set(_) => TemplateValue::Absent,
        };
        Self {
            content,
            boxed: true,
        }
    }

    pub(super) fn unboxed(self) -> Self {
        Self::from_value(self.content)
    }

    /// Whether the item is `null` in a document.
    pub(super) fn is_null(&self) -> bool {
        self.boxed && matches!(self.content, TemplateValue::Absent)
    }

    /// Returns the static type.
    pub(super) fn outer_kind(&self) -> &'static str {
        if self.boxed { ANY } else { self.kind() }
    }

    /// Returns the dynamic type.
    pub(super) fn kind(&self) -> &'static str {
        match &self.content {
            TemplateValue::Absent => "<nil>",
            TemplateValue::Bool(_) => "bool",
            TemplateValue::Integer(_, kind) | TemplateValue::Text(_, kind) => kind,
            TemplateValue::Float(_) => "float64",
            TemplateValue::Complex(..) => "complex128",
            TemplateValue::List(..) => LIST,
            TemplateValue::Map(_) => MAP,
        }
    }

    /// Whether the item is a string or a number of a document.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.content, TemplateValue::Text(..))
    }

    pub(super) fn is_true(&self) -> bool {
        match &self.content {
            TemplateValue::Absent => false,
            TemplateValue::Bool(value) => *value,
            TemplateValue::Integer(integer, _) => *integer != 0,
            TemplateValue::Float(float) => *float != 0.0,
            TemplateValue::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
            TemplateValue::Text(text, _) => text.as_bytes().is_some_and(|text| !text.is_empty()),
            TemplateValue::List(items, _) => !items.is_empty(),
            TemplateValue::Map(members) => !members.is_empty(),
        }
    }

    /// Converts the item to a format argument.
    pub(super) fn argument(&self) -> Argument<'_> {
        match &self.content {
            TemplateValue::Absent => Argument::Nil,
            TemplateValue::Bool(value) => Argument::Bool(*value),
            TemplateValue::Integer(integer, kind) => Argument::Integer(*integer, kind),
            TemplateValue::Float(float) => Argument::Float(*float),
            TemplateValue::Complex(real, imaginary) => Argument::Complex(*real, *imaginary),
            TemplateValue::Text(text, kind) => {
                Argument::Text(text.as_bytes().unwrap_or_default().into(), kind)
            }
            TemplateValue::List(items, _) => Argument::List(items),
            TemplateValue::Map(members) => Argument::Map(members),
        }
    }

    /// Appends the item in its default format.
    pub(super) fn print(&self, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), Failure> {
        print(call, &self.argument(), 'v', out)
    }

    /// Formats the item with a verb for messages.
    pub(super) fn format(&self, call: &Call<'_>, verb: char) -> Result<String, Failure> {
        let mut out = Vec::new();
        print(call, &self.argument(), verb, &mut out)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}
