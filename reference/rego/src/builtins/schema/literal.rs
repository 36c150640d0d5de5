//! Normalized values that `const`, `enum` and `uniqueItems` compare.

use super::super::marshal::escape;
use super::super::{Call, Failure};
use crate::Value;
use crate::value::Number;

/// Serializes values to strings that are equal if the values are: numbers become floats, members
/// are sorted. The same strings are shown in messages.
pub(super) struct Literals<'c> {
    call: &'c Call<'c>,
    out: String,
}

/// Number of string bytes that are charged as one value.
const UNIT: usize = 16;

/// Floats from this magnitude on, and below its inverse, are written with an exponent.
const FAR: f64 = 1e21;
const NEAR: f64 = 1e-6;

impl<'c> Literals<'c> {
    /// Serializes a value.
    ///
    /// # Errors
    /// When the evaluation has to end, or a number is too large for a float.
    pub(super) fn text(call: &'c Call<'c>, value: &Value) -> Result<String, Failure> {
        let mut literals = Self {
            call,
            out: String::new(),
        };
        literals.value(value)?;
        Ok(literals.out)
    }

    fn value(&mut self, value: &Value) -> Result<(), Failure> {
        self.call.make(1)?;
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => self.number(number)?,
            Value::Array(items) => {
                return self.list('[', ']', items.iter(), |literals, item| {
                    literals.nested(item)
                });
            }
            Value::Object(members) => {
                return self.list('{', '}', members.iter(), |literals, (key, member)| {
                    literals.nested(key)?;
                    literals.out.push(':');
                    literals.nested(member)
                });
            }
            // JSON documents have no sets.
            Value::String(_) | Value::Bytes(_) | Value::Set(_) => {
                let text = value.as_lossy().unwrap_or_default();
                self.call.make(text.len() / UNIT)?;
                self.string(&text);
            }
        }
        Ok(())
    }

    fn nested(&mut self, value: &Value) -> Result<(), Failure> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.value(value))
    }

    fn list<I>(
        &mut self,
        open: char,
        close: char,
        items: impl Iterator<Item = I>,
        mut write: impl FnMut(&mut Self, I) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.out.push(open);
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            write(self, item)?;
        }
        self.out.push(close);
        Ok(())
    }

    fn number(&mut self, number: &Number) -> Result<(), Failure> {
        let value = number.as_f64();
        if !value.is_finite() {
            let text = number.text();
            return Err(Failure::Value(format!(
                "json: cannot unmarshal number {text} into Go value of type float64"
            )));
        }
        let size = value.abs();
        if size == 0.0 || (NEAR..FAR).contains(&size) {
            self.out.push_str(&value.to_string());
            return Ok(());
        }
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let sign = if exponent.starts_with('-') { "" } else { "+" };
        self.out.extend([mantissa, "e", sign, exponent]);
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        escape(text, &mut self.out);
        self.out.push('"');
    }
}
