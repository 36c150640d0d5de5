//! Template values.

use crate::Value;
use crate::builtins::format::{ANY, Argument, LIST, MAP, NUMBER, print};
use crate::builtins::{Call, Failure};
use crate::value::{Array, Object};

/// Template value.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) thing: Thing,
    /// Whether the value is part of a document, with the static type `interface {}`.
    pub(super) boxed: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Thing {
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
    List(Array, Behind),
    Map(Object),
}

/// Capacity after the items of an array, up to which slices may extend it.
#[derive(Debug, Clone)]
pub(super) struct Behind {
    pub(super) items: Array,
    /// Number of additional empty places.
    pub(super) empty: usize,
}

impl Behind {
    pub(super) fn len(&self) -> usize {
        self.items.len() + self.empty
    }
}

/// Maximum capacity of parsed arrays, which grow to a power of two.
const MAX_GROWN: usize = 512;

impl Item {
    pub(super) const ABSENT: Self = Self {
        thing: Thing::Absent,
        boxed: false,
    };

    pub(super) fn plain(thing: Thing) -> Self {
        Self {
            thing,
            boxed: false,
        }
    }

    pub(super) fn integer(integer: i64) -> Self {
        Self::plain(Thing::Integer(integer, "int"))
    }

    pub(super) fn truth(value: bool) -> Self {
        Self::plain(Thing::Bool(value))
    }

    pub(super) fn text(text: &[u8]) -> Self {
        Self::plain(Thing::Text(Value::string(text), "string"))
    }

    /// Creates an item from a part of a document.
    pub(super) fn of(value: &Value) -> Self {
        let thing = match value {
            Value::Bool(value) => Thing::Bool(*value),
            Value::Number(number) => Thing::Text(Value::from(number.text().as_ref()), NUMBER),
            Value::String(_) | Value::Bytes(_) => Thing::Text(value.clone(), "string"),
            Value::Array(items) => {
                let length = items.len();
                let places = match length {
                    0 => 0,
                    1..=MAX_GROWN => length.next_power_of_two(),
                    _ => length,
                };
                let behind = Behind {
                    items: Array::new(),
                    empty: places - length,
                };
                Thing::List(items.clone(), behind)
            }
            Value::Object(members) => Thing::Map(members.clone()),
            Value::Null | Value::Set(_) => Thing::Absent,
        };
        Self { thing, boxed: true }
    }

    pub(super) fn unboxed(self) -> Self {
        Self::plain(self.thing)
    }

    /// Whether the item is `null` in a document.
    pub(super) fn is_null(&self) -> bool {
        self.boxed && matches!(self.thing, Thing::Absent)
    }

    /// Returns the static type.
    pub(super) fn outer_kind(&self) -> &'static str {
        if self.boxed { ANY } else { self.kind() }
    }

    /// Returns the dynamic type.
    pub(super) fn kind(&self) -> &'static str {
        match &self.thing {
            Thing::Absent => "<nil>",
            Thing::Bool(_) => "bool",
            Thing::Integer(_, kind) | Thing::Text(_, kind) => kind,
            Thing::Float(_) => "float64",
            Thing::Complex(..) => "complex128",
            Thing::List(..) => LIST,
            Thing::Map(_) => MAP,
        }
    }

    /// Whether the item is a string or a number of a document.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.thing, Thing::Text(..))
    }

    pub(super) fn is_true(&self) -> bool {
        match &self.thing {
            Thing::Absent => false,
            Thing::Bool(value) => *value,
            Thing::Integer(integer, _) => *integer != 0,
            Thing::Float(float) => *float != 0.0,
            Thing::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
            Thing::Text(text, _) => text.as_bytes().is_some_and(|text| !text.is_empty()),
            Thing::List(items, _) => !items.is_empty(),
            Thing::Map(members) => !members.is_empty(),
        }
    }

    /// Converts the item to a format argument.
    pub(super) fn argument(&self) -> Argument<'_> {
        match &self.thing {
            Thing::Absent => Argument::Nil,
            Thing::Bool(value) => Argument::Bool(*value),
            Thing::Integer(integer, kind) => Argument::Integer(*integer, kind),
            Thing::Float(float) => Argument::Float(*float),
            Thing::Complex(real, imaginary) => Argument::Complex(*real, *imaginary),
            Thing::Text(text, kind) => {
                Argument::Text(text.as_bytes().unwrap_or_default().into(), kind)
            }
            Thing::List(items, _) => Argument::List(items),
            Thing::Map(members) => Argument::Map(members),
        }
    }

    /// Appends the item in its default format.
    pub(super) fn print(&self, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), Failure> {
        print(call, &self.argument(), 'v', out)
    }

    /// Formats the item with a verb for messages.
    pub(super) fn shown(&self, call: &Call<'_>, verb: char) -> Result<String, Failure> {
        let mut out = Vec::new();
        print(call, &self.argument(), verb, &mut out)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}
