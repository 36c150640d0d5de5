//! Document values. Clones share the original; a change copies only the path to it.
//!
//! Servers hold documents of hundreds of megabytes, most of them many small objects with the same
//! few names and short strings. So a value takes 24 bytes, and what is small needs nothing else:
//! integers and strings of up to 23 bytes are kept in place. An object that was read is one
//! allocation with its values; the list of its keys is shared by all objects of the document that
//! have the same ones. A short array is one allocation with its items. Longer objects and arrays
//! are trees of lists, so that a change to one of a million entries copies a few lists and shares
//! the others; short ones become such lists when they are changed.
//!
//! Of documents that are kept ([`document_from_json`]) such a list is its text until somebody looks
//! for one of its items, which takes a third of the memory and no time to write.
//!
//! Values of 16 bytes were weighed against this: they leave no room for strings in place, and a
//! string of its own takes more than the 8 bytes that each value would save.

use std::cmp::Ordering;
use std::sync::Arc;

mod arithmetic;
mod array;
mod byte_string;
mod compare;
mod decimal;
mod document;
mod float;
mod json;
mod json_chunks;
mod json_length;
mod lazy_chunk;
mod list_index;
mod literal;
mod names;
mod number;
mod object;
mod serde;
mod sink;
mod tree;
mod write;
mod yaml;
mod yaml_depth;

pub use arithmetic::ArithmeticError;
pub use array::{Array, Iter as ArrayIter};
pub use byte_string::ByteString;
pub(crate) use byte_string::{Characters, lossy};
pub(crate) use compare::equal;
pub use document::document_from_json;
pub use json::{SyntaxError, from_json, from_json_prefix, input_from_json};
pub use json_chunks::JsonChunks;
pub use json_length::{Measured, NotMeasured};
pub(crate) use list_index::{Entry, Known};
pub use literal::Literal;
pub(crate) use literal::{escape, escape_code, quoted, quoted_bytes};
pub use number::Number;
pub(crate) use number::whole;
pub use object::{Iter, IterMut, Object, Set};
pub(crate) use object::{MemberPlace, distinct};
pub(crate) use sink::{JsonSink, TextSink, ValueSink};
pub use smol_str::SmolStr as Text;
pub use write::TooLong;
pub(crate) use yaml::MAX_YAML_LENGTH;
pub use yaml::{YamlError, from_yaml};

/// Arrays and objects may be nested this deep when they are read.
///
/// INVARIANT: values are dropped, compared and written by recursion, so every way to make a
/// value deeper has a bound.
pub const MAX_DEPTH: usize = 512;

/// Any document, and what only policies can make: sets, and objects whose keys are no strings.
///
/// Values have one total order: null, booleans, numbers, strings, arrays, objects, sets; within
/// a kind the usual one, item by item.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number with the text it was written in.
    Number(Number),
    /// A string that is UTF-8.
    String(Text),
    /// A string that is not.
    Bytes(ByteString),
    /// An array.
    Array(Array),
    /// An object.
    Object(Object),
    /// A set. It is written as the array of its members in their order.
    Set(Arc<Set>),
}

impl Value {
    /// The string, if this is one that is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The members to change, if this is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value of a member, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// Whether this is an array, an object or a set.
    pub(crate) fn is_composite(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Object(_) | Self::Set(_))
    }

    /// The kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) | Self::Bytes(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
            Self::Set(_) => "set",
        }
    }

    /// The members, if this is a set.
    pub fn as_set(&self) -> Option<&Set> {
        match self {
            Self::Set(members) => Some(members),
            _ => None,
        }
    }

    /// An object of these members.
    pub fn object<K: Into<Value>>(members: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::Object(members.into_iter().collect())
    }

    /// Where the kind of the value stands in the order.
    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::String(_) | Self::Bytes(_) => 3,
            Self::Array(_) => 4,
            Self::Object(_) => 5,
            Self::Set(_) => 6,
        }
    }

    /// How this value compares to a string.
    fn compare_text(&self, text: &str) -> Ordering {
        match self {
            Self::String(own) => own.as_str().cmp(text),
            Self::Bytes(own) => own.as_bytes().cmp(text.as_bytes()),
            Self::Null | Self::Bool(_) | Self::Number(_) => Ordering::Less,
            Self::Array(_) | Self::Object(_) | Self::Set(_) => Ordering::Greater,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Number(Number::from(value))
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Number(Number::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::Array(items.into())
    }
}

impl From<Object> for Value {
    fn from(members: Object) -> Self {
        Self::Object(members)
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self::String(text.into())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::String(text)
    }
}

impl From<Array> for Value {
    fn from(items: Array) -> Self {
        Self::Array(items)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::from(i64::from(value))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(Number::from(value))
    }
}

impl From<Number> for Value {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<Set> for Value {
    fn from(members: Set) -> Self {
        Self::Set(Arc::new(members))
    }
}

/// A value fits three words.
const _: () = assert!(size_of::<Value>() == 24);
