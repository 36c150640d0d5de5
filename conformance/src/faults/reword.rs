//! Changes of JSON documents that preserve their meaning, or nearly so.

use regex::Regex;
use serde::Deserialize;
use serde_json::{Number, Value};

use super::json_edit::{change_at, put_at};

/// Adds a prefix and a suffix to the strings at some pointer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Affix {
    at: String,
    #[serde(default)]
    before: String,
    #[serde(default)]
    after: String,
}

impl Affix {
    pub(super) fn apply(&self, body: &mut Value) {
        change_at(body, &self.at, &|place| {
            if let Value::String(text) = place {
                *text = format!("{}{text}{}", self.before, self.after);
            }
        });
    }
}

/// Replaces the matches of a regular expression in the strings at or below some pointer; `$1` in
/// `to` is the first group. Member names are unchanged.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replace {
    #[serde(default)]
    at: String,
    from: Expression,
    to: String,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Expression(Regex);

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let expression = Regex::new(&text).map_err(|error| error.to_string())?;
        Ok(Self(expression))
    }
}

impl Replace {
    pub(super) fn apply(&self, body: &mut Value) {
        change_at(body, &self.at, &|place| self.below(place));
    }

    fn below(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                *text = self.from.0.replace_all(text, &self.to).into_owned();
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.below(item)),
            Value::Object(members) => members.values_mut().for_each(|item| self.below(item)),
            _ => {}
        }
    }
}

/// Wraps the values at some pointer, unless they are empty, in another value, at `to`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wrap {
    at: String,
    into: Value,
    to: String,
}

impl Wrap {
    pub(super) fn apply(&self, body: &mut Value) {
        change_at(body, &self.at, &|place| {
            let is_empty = match &*place {
                Value::String(text) => text.is_empty(),
                Value::Object(members) => members.is_empty(),
                Value::Array(items) => items.is_empty(),
                _ => false,
            };
            if !is_empty {
                let mut around = self.into.clone();
                put_at(&mut around, &self.to, place);
                *place = around;
            }
        });
    }
}

/// Joins the strings in the arrays at some pointer into one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Join {
    at: String,
    with: String,
}

impl Join {
    pub(super) fn apply(&self, body: &mut Value) {
        change_at(body, &self.at, &|place| {
            let texts = place.as_array().map(|items| {
                let texts = items.iter().filter_map(Value::as_str);
                texts.collect::<Vec<_>>().join(&self.with)
            });
            if let Some(text) = texts {
                *place = Value::String(text);
            }
        });
    }
}

/// Adds a number to the integers at some pointers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shift {
    at: Vec<String>,
    by: i64,
}

impl Shift {
    pub(super) fn apply(&self, body: &mut Value) {
        for pointer in &self.at {
            change_at(body, pointer, &|place| {
                if let Some(moved) = place.as_i64().and_then(|n| n.checked_add(self.by)) {
                    *place = Value::from(moved);
                }
            });
        }
    }
}

/// Writes the numbers at or below some pointers in another form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Respell {
    at: Vec<String>,
    form: NumberForm,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NumberForm {
    /// Integers with a fraction: `1.0`.
    Fraction,
    /// Integers with an exponent: `1e0`.
    Exponent,
    /// Integers without their fraction: `1` for `1.0`.
    Whole,
}

impl NumberForm {
    /// Formats the number in this form; `None` if that does not change it.
    fn of(self, number: &Number) -> Option<String> {
        let text = number.to_string();
        let is_whole = number.is_i64() || number.is_u64();
        match self {
            Self::Fraction => is_whole.then(|| format!("{text}.0")),
            Self::Exponent => is_whole.then(|| format!("{text}e0")),
            Self::Whole => text.strip_suffix(".0").map(str::to_owned),
        }
    }
}

impl Respell {
    pub(super) fn apply(&self, body: &mut Value) {
        for pointer in &self.at {
            change_at(body, pointer, &|place| self.below(place));
        }
    }

    fn below(&self, value: &mut Value) {
        match value {
            Value::Number(number) => {
                if let Some(text) = self.form.of(number) {
                    *number = Number::from_string_unchecked(text);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.below(item)),
            Value::Object(members) => members.values_mut().for_each(|item| self.below(item)),
            _ => {}
        }
    }
}
