//! Document values. Clones share the original's data; a change copies only the path to the changed
//! part.
//!
//! Servers store documents of hundreds of megabytes, most of which are many small objects with the
//! same few names and short strings. So a value takes 24 bytes, and small values need no
//! allocation: integers and strings of up to 23 bytes are stored inline. A parsed object is one
//! allocation with its values; the list of its keys is shared by all objects of the document that
//! have the same keys. A short array is one allocation with its items. Longer objects and arrays
//! are trees of lists, so that a change to one of a million entries copies a few lists and shares
//! the others; short objects and arrays become such a list when they are changed.
//!
//! In stored documents ([`document_from_json`]) such a list remains text until one of its items is
//! accessed, which takes a third of the memory and no time to encode.
//!
//! Values of 16 bytes were considered: they leave no room for inline strings, and a separate string
//! takes more than the 8 bytes that each value would save.

use std::cmp::Ordering;
use std::sync::Arc;

mod arithmetic;
mod array;
mod byte_string;
mod compare;
mod decimal;
mod document;
mod float;
mod item;
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
pub use json_length::{NotMeasured, ValueSize};
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

/// Maximum nesting depth of arrays and objects that are parsed.
///
/// INVARIANT: values are dropped, compared and written by recursion, so every way to create a
/// deeper value is limited.
pub const MAX_DEPTH: usize = 512;

/// A document, or a value that only policies create: a set, or an object with keys of other types
/// than strings.
///
/// Values have one total order: null, booleans, numbers, strings, arrays, objects, sets; within a
/// type the natural one, item by item.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number with its original text.
    Number(Number),
    /// A string that is UTF-8.
    String(Text),
    /// A string that is not UTF-8.
    Bytes(ByteString),
    /// An array.
    Array(Array),
    /// An object.
    Object(Object),
    /// A set. Its JSON form is the array of its members in their order.
    Set(Arc<Set>),
}

impl Value {
    /// Returns the string, if this is a string that is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items, if this is an array.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the members, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the members, mutably, if this is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the value of the member with this name, if this is an object that has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// Whether this is an array, an object or a set.
    pub(crate) fn is_composite(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Object(_) | Self::Set(_))
    }

    /// Returns the type of the value, for messages.
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

    /// Returns the members, if this is a set.
    pub fn as_set(&self) -> Option<&Set> {
        match self {
            Self::Set(members) => Some(members),
            _ => None,
        }
    }

    /// Creates an object of these members.
    pub fn object<K: Into<Value>>(members: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::Object(members.into_iter().collect())
    }

    /// Returns the rank of the value's type in the order of all values.
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

    /// Compares this value to a string.
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

/// A value has three machine words.
const _: () = assert!(size_of::<Value>() == 24);
