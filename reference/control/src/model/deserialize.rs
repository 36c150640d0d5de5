//! Deserialization of definitions from JSON.
//!
//! The deserializer differs from that of `serde_json`: it refuses an array in place of a struct, it
//! ignores unknown members (which only the configuration refuses), and each error contains the path
//! of its member.

use serde::Deserializer;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::ValidationError;

/// Parses the JSON value of a body.
///
/// # Errors
/// When the body is not one JSON value, or is nested too deeply.
pub(super) fn json(body: &[u8]) -> Result<Value, ValidationError> {
    serde_json::from_slice(body)
        .map_err(|failure| ValidationError::new(format!("body is not valid JSON: {failure}")))
}

/// Deserializes a definition from a JSON value.
///
/// # Errors
/// When the value is not an object, or a known member has a value of the wrong type.
pub(super) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, ValidationError> {
    T::deserialize(Input(value))
}

impl Error for ValidationError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

/// Deserializer of a JSON value, with errors that contain a path.
struct Input<'v>(&'v Value);

impl Input<'_> {
    fn type_error(&self, expected: &str) -> ValidationError {
        let found = match self.0 {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        ValidationError::new(format!("must be {expected}, not {found}"))
    }
}

impl<'v> Deserializer<'v> for Input<'v> {
    type Error = ValidationError;

    fn deserialize_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ValidationError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(value) => value
                .deserialize_any(visitor)
                .map_err(ValidationError::custom),
            Value::String(value) => visitor.visit_borrowed_str(value),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ValidationError> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_str<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ValidationError> {
        match self.0 {
            Value::String(value) => visitor.visit_borrowed_str(value),
            _ => Err(self.type_error("a string")),
        }
    }

    fn deserialize_string<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ValidationError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_seq<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ValidationError> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(Items(items.iter().enumerate())),
            _ => Err(self.type_error("an array")),
        }
    }

    fn deserialize_map<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, ValidationError> {
        match self.0 {
            Value::Object(members) => visitor.visit_map(Members::new(members, None)),
            _ => Err(self.type_error("an object")),
        }
    }

    fn deserialize_struct<V: Visitor<'v>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValidationError> {
        match self.0 {
            Value::Object(members) => visitor.visit_map(Members::new(members, Some(fields))),
            _ => Err(self.type_error("an object")),
        }
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'v>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct enum identifier ignored_any
    }
}

struct Items<'v>(std::iter::Enumerate<std::slice::Iter<'v, Value>>);

impl<'v> SeqAccess<'v> for Items<'v> {
    type Error = ValidationError;

    fn next_element_seed<S: DeserializeSeed<'v>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ValidationError> {
        let Some((index, item)) = self.0.next() else {
            return Ok(None);
        };
        let result = seed.deserialize(Input(item));
        result
            .map(Some)
            .map_err(|invalid| invalid.under(format!("[{index}]")))
    }
}

/// Members of an object; for a struct, only those that are its fields.
struct Members<'v> {
    rest: serde_json::map::Iter<'v>,
    known: Option<&'static [&'static str]>,
    current: Option<(&'v String, &'v Value)>,
}

impl<'v> Members<'v> {
    fn new(members: &'v Map<String, Value>, known: Option<&'static [&'static str]>) -> Self {
        Self {
            rest: members.iter(),
            known,
            current: None,
        }
    }
}

impl<'v> MapAccess<'v> for Members<'v> {
    type Error = ValidationError;

    fn next_key_seed<S: DeserializeSeed<'v>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ValidationError> {
        let known = self.known;
        let is_known = |name: &str| known.is_none_or(|known| known.contains(&name));
        self.current = self.rest.find(|(name, _)| is_known(name));
        let Some((name, _)) = self.current else {
            return Ok(None);
        };
        seed.deserialize(StrDeserializer::<ValidationError>::new(name))
            .map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'v>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ValidationError> {
        let Some((name, value)) = self.current else {
            return Err(ValidationError::new(
                "a value was asked for before its name",
            ));
        };
        let result = seed.deserialize(Input(value));
        result.map_err(|invalid| invalid.under(name))
    }
}
