//! Writes values as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use super::Value;

/// Texts of values that stand within other texts are cut off behind so many bytes.
const MAX_SHOWN: usize = 64 << 20;

/// A text would have become too long. Values can share their parts, so that a short policy makes
/// one whose text fits nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the document takes more than {0} bytes as JSON")]
pub struct TooLong(usize);

impl Value {
    /// The value as JSON on one line or, if it is for people, indented by two spaces.
    ///
    /// # Errors
    /// When the text would take more than `limit` bytes.
    pub fn to_json(&self, pretty: bool, limit: usize) -> Result<Vec<u8>, TooLong> {
        let mut writer = Writer::new(limit);
        writer.value(self, pretty.then_some(0))?;
        Ok(writer.out)
    }
}

/// The value as JSON, cut off where it becomes too long to be looked at.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new(MAX_SHOWN);
        // What was written up to the limit is shown.
        let _ = writer.value(self, None);
        f.write_str(&String::from_utf8_lossy(&writer.out))
    }
}

struct Writer {
    out: Vec<u8>,
    limit: usize,
    /// Whether members stand in the order of their names, as they do in the name that is made of
    /// a key, and not in that of their keys.
    by_name: bool,
}

impl Writer {
    fn new(limit: usize) -> Self {
        Self {
            out: Vec::new(),
            limit,
            by_name: false,
        }
    }

    /// Appends a value, with line breaks when the level of indentation is known. Trees of policies
    /// are written as well, which nest deeper than documents, so the stack grows.
    fn value(&mut self, value: &Value, level: Option<usize>) -> Result<(), TooLong> {
        match value {
            Value::Array(_) | Value::Object(_) | Value::Set(_) => {
                stacker::maybe_grow(64 << 10, 1 << 20, || self.parts(value, level))?;
            }
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(true) => self.out.extend_from_slice(b"true"),
            Value::Bool(false) => self.out.extend_from_slice(b"false"),
            Value::Number(number) => self.out.extend_from_slice(number.text().as_bytes()),
            Value::String(text) => write_string(text, &mut self.out),
        }
        if self.out.len() > self.limit {
            return Err(TooLong(self.limit));
        }
        Ok(())
    }

    /// Appends an array, an object or a set.
    fn parts(&mut self, value: &Value, level: Option<usize>) -> Result<(), TooLong> {
        match value {
            Value::Array(items) => self.items(items.iter(), level),
            Value::Set(members) => self.items(members.iter(), level),
            Value::Object(members) if self.by_name => {
                let mut named = BTreeMap::new();
                for (key, member) in members {
                    named.insert(self.name(key)?, (key, member));
                }
                self.members(named.into_values(), level)
            }
            Value::Object(members) => self.members(members.iter(), level),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn items<'v>(
        &mut self,
        items: impl ExactSizeIterator<Item = &'v Value>,
        level: Option<usize>,
    ) -> Result<(), TooLong> {
        let inner = level.map(|level| level + 1);
        let empty = items.len() == 0;
        self.out.push(b'[');
        for (at, item) in items.enumerate() {
            self.separate(at, inner);
            self.value(item, inner)?;
        }
        self.close(b']', empty, level);
        Ok(())
    }

    fn members<'v>(
        &mut self,
        members: impl ExactSizeIterator<Item = (&'v Value, &'v Value)>,
        level: Option<usize>,
    ) -> Result<(), TooLong> {
        let inner = level.map(|level| level + 1);
        let empty = members.len() == 0;
        self.out.push(b'{');
        for (at, (key, member)) in members.enumerate() {
            self.separate(at, inner);
            let name = self.name(key)?;
            write_string(&name, &mut self.out);
            let colon: &[u8] = if level.is_some() { b": " } else { b":" };
            self.out.extend_from_slice(colon);
            self.value(member, inner)?;
        }
        self.close(b'}', empty, level);
        Ok(())
    }

    /// The name of a member: keys that are no strings are named by their JSON text.
    fn name<'v>(&self, key: &'v Value) -> Result<Cow<'v, str>, TooLong> {
        if let Value::String(name) = key {
            return Ok(Cow::Borrowed(name));
        }
        let mut writer = Self {
            by_name: true,
            ..Self::new(self.limit)
        };
        writer.value(key, None)?;
        let text = String::from_utf8_lossy(&writer.out).into_owned();
        Ok(Cow::Owned(text))
    }

    /// The comma before any item but the first, and the line break before each.
    fn separate(&mut self, at: usize, level: Option<usize>) {
        if at > 0 {
            self.out.push(b',');
        }
        self.break_line(level);
    }

    fn close(&mut self, bracket: u8, empty: bool, level: Option<usize>) {
        if !empty {
            self.break_line(level);
        }
        self.out.push(bracket);
    }

    fn break_line(&mut self, level: Option<usize>) {
        if let Some(level) = level {
            self.out.push(b'\n');
            self.out.extend(std::iter::repeat_n(b' ', 2 * level));
        }
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
    {
        let (plain, behind) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((special, behind)) = behind.split_first() else {
            break;
        };
        match special {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
