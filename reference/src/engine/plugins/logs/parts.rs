//! Parts of masked values, by which copies of them are recognised.

use std::hash::{BuildHasher, Hasher, RandomState};

use rego::Value;
use rego::value::Number;

use super::spelling;

/// Shorter strings and numbers are in every event, so that they tell nothing.
const SHORTEST_STRING: usize = 3;
const SHORTEST_NUMBER: usize = 4;

/// Shorter arrays, objects and sets are in every event, too. In bytes of JSON.
const SHORTEST_WHOLE: usize = 8;

/// One part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// A string, a line of one, or the text of a number.
    Text(String),
    /// The name of a member.
    Name(String),
    /// A number without its sign.
    Number(Number),
    /// An array, an object or a set, by its digest.
    Whole(u64),
}

/// What is known of a value that was looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct MaskedPart {
    digest: u64,
    /// The bytes of its JSON, roughly.
    size: usize,
}

/// Makes digests of values. They are equal for equal values, whatever these share.
#[derive(Debug, Default)]
pub(super) struct Digests(RandomState);

impl Digests {
    /// Of a value that has no others in it.
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

    /// Of an array, an object or a set, of what was seen in it one after the other.
    pub(super) fn whole(
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

    /// Shows each part of a value, the inner ones first.
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
        let whole = self.whole(value, inner);
        whole.part().into_iter().for_each(show);
        whole
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
    /// What an array, an object or a set is recognised by as a whole, unless it is too short.
    pub(super) fn part(self) -> Option<Part> {
        (self.size >= SHORTEST_WHOLE).then_some(Part::Whole(self.digest))
    }
}

/// Shows the texts of a string or a number: itself, and each of its lines, as YAML writes them one
/// by one.
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

/// Whether a text is long enough to tell something.
pub(super) fn is_long_enough(text: &str) -> bool {
    text.chars().nth(SHORTEST_STRING - 1).is_some()
}

/// The number that a value is or spells, without its sign, if its usual spelling is long enough.
fn number(value: &Value) -> Option<Number> {
    let found = match value {
        Value::Number(number) => spelling::magnitude(&number.text()),
        _ => spelling::magnitude(value.as_str()?),
    }?;
    let usual = found.as_f64();
    let is_long = !usual.is_finite() || usual.to_string().len() >= SHORTEST_NUMBER;
    is_long.then_some(found)
}
