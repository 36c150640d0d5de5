//! Parts of masked values, by which copies of the values are recognised.

use std::hash::{BuildHasher, Hasher, RandomState};

use rego::Value;
use rego::value::Number;

use super::spelling;

/// Minimum length of strings and numbers; shorter ones are too common to identify a copy.
const SHORTEST_STRING: usize = 3;
const SHORTEST_NUMBER: usize = 4;

/// Minimum size of arrays, objects and sets, in bytes of JSON; smaller ones are too common as well.
const SHORTEST_WHOLE: usize = 8;

/// Part of a masked value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// String, line of a string, or spelling of a number.
    Text(String),
    /// Key of an object.
    Name(String),
    /// Number without its sign.
    Number(Number),
    /// Array, object or set, by digest.
    Whole(u64),
}

/// Digest and size of a visited value.
#[derive(Debug, Clone, Copy)]
pub(super) struct MaskedPart {
    digest: u64,
    /// Approximate bytes of the value's JSON.
    size: usize,
}

/// Computes digests of values. Equal values have equal digests, whether or not they share parts.
#[derive(Debug, Default)]
pub(super) struct Digests(RandomState);

impl Digests {
    /// Digest of a scalar.
    pub(super) fn scalar(&self, value: &Value) -> MaskedPart {
        let mut hasher = self.0.build_hasher();
        let size = match value {
            Value::Bool(truth) => {
                hasher.write_u8(u8::from(*truth));
                4
            }
            Value::Number(number) => {
                hasher.write_u64(number.as_f64().to_bits());
                number.text().len()
            }
            _ => {
                let text = value.as_lossy();
                hasher.write_u8(if text.is_some() { 2 } else { 3 });
                let text = text.unwrap_or_default();
                hasher.write(text.as_bytes());
                text.len() + 2
            }
        };
        MaskedPart {
            digest: hasher.finish(),
            size,
        }
    }

    /// Digest of an array, object or set, from the digests of its elements in order.
    pub(super) fn composite(
        &self,
        value: &Value,
        inner: impl IntoIterator<Item = MaskedPart>,
    ) -> MaskedPart {
        let mut hasher = self.0.build_hasher();
        hasher.write_u8(u8::from(value.as_object().is_some()));
        let mut size = 1;
        for seen in inner {
            hasher.write_u64(seen.digest);
            size += seen.size + 1;
        }
        MaskedPart {
            digest: hasher.finish(),
            size,
        }
    }

    /// Calls `show` with each part of a value, inner parts first.
    pub(super) fn each_part(&self, value: &Value, show: &mut impl FnMut(Part)) -> MaskedPart {
        let mut inner = Vec::new();
        match value {
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Bytes(_) => {
                each_text(value, &mut |text| show(Part::Text(text)));
                number(value)
                    .into_iter()
                    .for_each(|n| show(Part::Number(n)));
                return self.scalar(value);
            }
            Value::Array(items) => items.iter().for_each(|item| {
                inner.push(self.each_part(item, show));
            }),
            Value::Set(members) => members.iter().for_each(|member| {
                inner.push(self.each_part(member, show));
            }),
            Value::Object(members) => members.iter().for_each(|(key, member)| {
                inner.push(self.key(key, show));
                inner.push(self.each_part(member, show));
            }),
        }
        let masked = self.composite(value, inner);
        masked.part().into_iter().for_each(show);
        masked
    }

    fn key(&self, key: &Value, show: &mut impl FnMut(Part)) -> MaskedPart {
        match key.as_lossy() {
            None => self.each_part(key, show),
            Some(_) => {
                each_text(key, &mut |text| show(Part::Name(text)));
                number(key).into_iter().for_each(|n| show(Part::Number(n)));
                self.scalar(key)
            }
        }
    }
}

impl MaskedPart {
    /// Part that identifies an array, object or set as a whole, unless it is too short.
    pub(super) fn part(self) -> Option<Part> {
        (self.size >= SHORTEST_WHOLE).then_some(Part::Whole(self.digest))
    }
}

/// Calls `show` with a string or a number, and with each line of a string, because YAML may write
/// the lines separately.
fn each_text(value: &Value, show: &mut impl FnMut(String)) {
    if let Value::Number(number) = value {
        let text = number.text();
        if text.len() >= SHORTEST_NUMBER {
            show(text.into_owned());
        }
    }
    let text = value.as_lossy().unwrap_or_default();
    let lines = text.contains('\n').then(|| text.lines().map(str::trim));
    for part in std::iter::once(&*text).chain(lines.into_iter().flatten()) {
        if is_long_enough(part) {
            show(part.to_owned());
        }
    }
}

/// Whether a string is long enough to identify a copy.
pub(super) fn is_long_enough(text: &str) -> bool {
    text.chars().nth(SHORTEST_STRING - 1).is_some()
}

/// Number that a value is or spells, without its sign, if its decimal spelling is long enough.
fn number(value: &Value) -> Option<Number> {
    let found = match value {
        Value::Number(number) => spelling::magnitude(&number.text()),
        _ => spelling::magnitude(value.as_str()?),
    }?;
    let float = found.as_f64();
    let is_long = !float.is_finite() || float.to_string().len() >= SHORTEST_NUMBER;
    is_long.then_some(found)
}
