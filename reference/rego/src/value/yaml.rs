//! YAML parser for documents that are valid as JSON.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::yaml_depth::nests_deeper;
use super::{Number, Object, Text, Value, from_json};

/// Maximum size to which a short document may grow by repeated use of anchors.
const MAX_SHORT_GROWTH: usize = 1 << 20;

/// Maximum length of a source in bytes.
pub(crate) const MAX_YAML_LENGTH: usize = 16 << 20;

/// Maximum number of directives. The parser compares each with all preceding ones.
const MAX_DIRECTIVES: usize = 64;

/// Maximum apparent nesting depth of brackets. It exceeds the depth that the parser permits,
/// because a source may appear to be nested deeper than it is.
const MAX_OPEN: usize = 256;

/// Error for a source that is not YAML, or has no JSON equivalent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum YamlError {
    /// Syntax error.
    #[error("invalid YAML: {0}")]
    Syntax(#[from] serde_yaml::Error),
    /// The source is too long.
    #[error("YAML may be at most {MAX_YAML_LENGTH} bytes long")]
    TooLong,
    /// Too many lines begin like directives.
    #[error("YAML may have at most {MAX_DIRECTIVES} directives")]
    TooManyDirectives,
    /// Too many brackets are nested, and the source is not JSON.
    #[error("the brackets of the YAML text are nested too deep or are not closed")]
    TooDeep,
}

/// Parses the first document of a source; an empty source is `null`. Members from a merge key `<<`
/// follow those written out, keys that are not strings become their JSON text, and of members with
/// the same name the last one counts. A quoted `<<` is a normal name, which only a source that is
/// JSON can have.
///
/// # Errors
/// If the source is not YAML, is too long, is nested too deep, contains a tag, a float that JSON
/// cannot represent or a key that is `null`, an array or object, may contain a quoted `<<` along
/// with merge keys, or grows out of proportion by repeated anchors.
pub fn from_yaml(text: &[u8]) -> Result<Value, YamlError> {
    if text.len() > MAX_YAML_LENGTH {
        return Err(YamlError::TooLong);
    }
    let lines = text.split(|byte| *byte == b'\n');
    if lines.filter(|line| line.starts_with(b"%")).count() > MAX_DIRECTIVES {
        return Err(YamlError::TooManyDirectives);
    }
    if nests_deeper(text, MAX_OPEN) {
        return from_json(text).map_err(|_| YamlError::TooDeep);
    }
    let merges = !may_quote_merge_key(text);
    if !merges && let Ok(document) = from_json(text) {
        return Ok(document);
    }
    let mut remaining = MAX_SHORT_GROWTH.max(text.len().saturating_mul(2));
    let mut documents = serde_yaml::Deserializer::from_slice(text);
    let Some(first) = documents.next() else {
        return Ok(Value::Null);
    };
    let document = Document {
        remaining: &mut remaining,
        merges,
    };
    let document = document.deserialize(first)?;
    // The next document is not used, but shows whether the first ends where it seems to.
    if let Some(second) = documents.next() {
        IgnoredAny::deserialize(second)?;
    }
    Ok(document)
}

/// Whether a source may contain the string `<<` in quotes, by escapes or as a block. The parser
/// does not distinguish it from a merge key.
fn may_quote_merge_key(text: &[u8]) -> bool {
    let pairs = text.windows(2);
    let quoted = |pair: &[u8]| matches!(pair, b"\"<" | b"'<" | b"<\"" | b"<'");
    let mut lines = text.split(|byte| *byte == b'\n');
    pairs.clone().any(quoted)
        || lines.any(|line| line.trim_ascii() == b"<<")
        || (text.contains(&b'\\')
            && pairs
                .filter(|pair| pair.first().is_some_and(|byte| *byte == b'3'))
                .any(|pair| pair.last().is_some_and(|byte| matches!(byte, b'c' | b'C'))))
}

/// Deserializes one value, whose size is deducted from `remaining`, the remaining size of the
/// document.
struct Document<'r> {
    remaining: &'r mut usize,
    /// Whether the member name `<<` is a merge key.
    merges: bool,
}

impl Document<'_> {
    /// Returns the deserializer for a part of this value.
    fn part(&mut self) -> Document<'_> {
        Document {
            remaining: self.remaining,
            merges: self.merges,
        }
    }

    /// Converts an integer beyond 64 bits to a float.
    fn visit_whole<E: de::Error>(self, digits: &str) -> Result<Value, E> {
        let float = digits.parse().map_err(E::custom)?;
        self.visit_f64(float)
    }

    fn take<E: de::Error>(&mut self, size: usize) -> Result<(), E> {
        match self.remaining.checked_sub(size + 1) {
            Some(left) => {
                *self.remaining = left;
                Ok(())
            }
            None => Err(E::custom("anchors repeat too much")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document that JSON can express")
    }

    fn visit_unit<E: de::Error>(mut self) -> Result<Value, E> {
        self.take(0)?;
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_bool<E: de::Error>(mut self, value: bool) -> Result<Value, E> {
        self.take(0)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(mut self, value: i64) -> Result<Value, E> {
        self.take(0)?;
        Ok(Value::Number(Number::from(value)))
    }

    fn visit_u64<E: de::Error>(mut self, value: u64) -> Result<Value, E> {
        self.take(0)?;
        Ok(Value::from(value))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Value, E> {
        self.visit_whole(&value.to_string())
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Value, E> {
        self.visit_whole(&value.to_string())
    }

    fn visit_f64<E: de::Error>(mut self, value: f64) -> Result<Value, E> {
        self.take(0)?;
        let number = Number::from_float(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("JSON has no such number"))
    }

    fn visit_str<E: de::Error>(mut self, value: &str) -> Result<Value, E> {
        self.take(value.len())?;
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<Value, A::Error> {
        self.take(0)?;
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(self.part())? {
            items.push(item);
        }
        Ok(Value::from(items))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut mapping: A) -> Result<Value, A::Error> {
        self.take(0)?;
        let mut members = Object::new();
        let mut merged = None;
        while let Some(key) = mapping.next_key_seed(self.part())? {
            let value = mapping.next_value_seed(self.part())?;
            let name = match key {
                Value::String(name) if name == "<<" => {
                    if !self.merges {
                        let why = "a merge key cannot be distinguished from a quoted `<<`";
                        return Err(de::Error::custom(why));
                    }
                    merged = Some(value);
                    continue;
                }
                Value::String(name) => name,
                Value::Array(_) | Value::Object(_) => {
                    return Err(de::Error::custom("a key is an array or object"));
                }
                Value::Null => return Err(de::Error::custom("a key is null")),
                Value::Number(number) => Text::from(key_text(&number)),
                scalar => Text::from(scalar.to_string()),
            };
            members.insert(name, value);
        }
        if let Some(merged) = merged {
            merge(&mut members, merged).map_err(de::Error::custom)?;
        }
        Ok(Value::from(members))
    }

    fn visit_enum<A: de::EnumAccess<'de>>(self, _tagged: A) -> Result<Value, A::Error> {
        Err(de::Error::custom("tags are not supported"))
    }
}

/// Returns the name for a key that is a number. Floats are formatted like 32-bit floats in OPA.
fn key_text(number: &Number) -> String {
    let text = number.text();
    if text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok() {
        return text.to_string();
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a name has too many digits"
    )]
    let float = number.as_f64() as f32;
    let shortest = format!("{float:e}");
    match shortest.split_once('e') {
        Some((digits, exponent)) => match exponent.parse::<i32>() {
            Ok(-4..6) => float.to_string(),
            Ok(exponent) => {
                let sign = if exponent < 0 { '-' } else { '+' };
                format!("{digits}e{sign}{:02}", exponent.abs())
            }
            Err(_) => shortest,
        },
        None => shortest,
    }
}

/// Adds the members of the object, or of the objects, in a merge key.
fn merge(members: &mut Object, merged: Value) -> Result<(), &'static str> {
    let sources = match merged {
        Value::Array(sources) => sources.to_vec(),
        source => vec![source],
    };
    for source in sources {
        let Value::Object(source) = source else {
            return Err("map merge requires map or sequence of maps as the value");
        };
        for (name, value) in source {
            members.insert_if_missing(name, || value);
        }
    }
    Ok(())
}
