//! Writes values as JSON that is safe in HTML, members in the order of their serialized names.

use std::borrow::Cow;

use super::strings::bound;
use super::{Call, Failure};
use crate::Value;

/// Line layout: each line begins with the prefix and one indent per nesting level.
#[derive(Clone, Copy)]
pub(super) struct Layout<'l> {
    pub(super) prefix: &'l str,
    pub(super) indent: &'l str,
}

/// Serializes the value as JSON, on one line unless a layout is given.
pub(super) fn marshalled(
    call: &Call<'_>,
    value: &Value,
    layout: Option<Layout<'_>>,
) -> Result<String, Failure> {
    let out = layout.map_or_else(String::new, |layout| layout.prefix.to_owned());
    let mut writer = Writer { call, layout, out };
    writer.value(value, 0)?;
    Ok(writer.out)
}

/// Retains the last of adjacent entries with the same name.
pub(super) fn last_of_each<N: PartialEq, V>(named: &mut Vec<(N, V)>) {
    named.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            std::mem::swap(&mut later.1, &mut earlier.1);
        }
        same
    });
}

struct Writer<'w> {
    call: &'w Call<'w>,
    layout: Option<Layout<'w>>,
    out: String,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Failure> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.out.push_str(&value.to_string());
            }
            Value::String(text) => self.string(text)?,
            Value::Bytes(bytes) => self.bytes(bytes.as_bytes())?,
            Value::Array(items) => self.items(items.iter(), depth)?,
            Value::Set(members) => self.items(members.iter(), depth)?,
            Value::Object(members) => {
                let named = members.iter().map(|(key, value)| match key.as_bytes() {
                    Some(name) => Ok((Cow::Borrowed(name), value)),
                    None => Ok((Cow::Owned(self.call.serialize(key)?.into_bytes()), value)),
                });
                let mut named = named.collect::<Result<Vec<_>, Failure>>()?;
                named.sort_by(|(left, _), (right, _)| left.cmp(right));
                last_of_each(&mut named);
                self.out.push('{');
                for (at, (name, value)) in named.iter().enumerate() {
                    self.item(at, depth + 1)?;
                    self.bytes(name)?;
                    self.out.push(':');
                    if self.layout.is_some() {
                        self.out.push(' ');
                    }
                    self.value(value, depth + 1)?;
                }
                self.close(named.is_empty(), '}', depth);
            }
        }
        Ok(())
    }

    fn items<'v>(
        &mut self,
        items: impl ExactSizeIterator<Item = &'v Value>,
        depth: usize,
    ) -> Result<(), Failure> {
        let empty = items.len() == 0;
        self.out.push('[');
        for (at, item) in items.enumerate() {
            self.item(at, depth + 1)?;
            self.value(item, depth + 1)?;
        }
        self.close(empty, ']', depth);
        Ok(())
    }

    /// Writes the separator and line start that precede an item.
    fn item(&mut self, at: usize, depth: usize) -> Result<(), Failure> {
        self.call.check()?;
        bound(self.out.len())?;
        if at > 0 {
            self.out.push(',');
        }
        self.line(depth);
        Ok(())
    }

    fn close(&mut self, empty: bool, bracket: char, depth: usize) {
        if !empty {
            self.line(depth);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        if let Some(layout) = self.layout {
            self.out.push('\n');
            self.out.push_str(layout.prefix);
            self.out.push_str(&layout.indent.repeat(depth));
        }
    }

    /// Writes a string, with an escape for each byte that is not UTF-8.
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.charge(bytes.len())?;
        self.out.push('"');
        for chunk in bytes.utf8_chunks() {
            escape(chunk.valid(), &mut self.out);
            for _ in chunk.invalid() {
                self.out.push_str("\\ufffd");
            }
        }
        self.out.push('"');
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Failure> {
        self.charge(text.len())?;
        self.out.push('"');
        escape(text, &mut self.out);
        self.out.push('"');
        Ok(())
    }

    /// Charges a string of this length before it is written.
    fn charge(&self, length: usize) -> Result<(), Failure> {
        bound(self.out.len().saturating_add(length))?;
        self.call.make(length / 16)
    }
}

/// Appends the contents of a JSON string, with escapes for characters that HTML and JavaScript
/// interpret differently.
pub(super) fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let code = u32::from(character);
                out.push_str(&format!("\\u{code:04x}"));
            }
            other => out.push(other),
        }
    }
}
