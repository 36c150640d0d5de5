//! JSON encoding of values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, RandomState};
use std::fmt;
use std::hash::{BuildHasher, Hasher};

use super::item::Item;
use super::object::Member;
use super::tree::{Run, Runs};
use super::{Object, Value};
use crate::hash::HashMap;

/// Number of bytes after which the JSON text of a value in a message is truncated.
const MAX_SHOWN: usize = 64 << 20;

/// Length in bytes of the shortest possible member: a name in quotes, a colon and a value.
const MIN_MEMBER: usize = 4;

/// Error for a text that would be too long. Values can share their parts, so that a short policy
/// can create one whose text does not fit in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the document takes more than {0} bytes as JSON")]
pub struct TooLong(pub(super) usize);

impl Value {
    /// Encodes the value as JSON, on one line or, if `pretty`, indented by two spaces.
    ///
    /// # Errors
    /// If the text would take more than `limit` bytes.
    pub fn to_json(&self, pretty: bool, limit: usize) -> Result<Vec<u8>, TooLong> {
        let mut writer = Writer::new(limit);
        writer.value(self, pretty.then_some(0))?;
        Ok(writer.out)
    }
}

/// Formats the value as JSON, truncated if it is too long.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new(MAX_SHOWN);
        // The output up to the limit is shown.
        let _ = writer.value(self, None);
        f.write_str(&String::from_utf8_lossy(&writer.out))
    }
}

/// Item of a list that can be encoded.
trait WriteItem: Item {
    fn write(&self, writer: &mut Writer, level: Option<usize>) -> Result<(), TooLong>;
}

impl WriteItem for Value {
    fn write(&self, writer: &mut Writer, level: Option<usize>) -> Result<(), TooLong> {
        writer.value(self, level)
    }
}

impl WriteItem for Member {
    fn write(&self, writer: &mut Writer, level: Option<usize>) -> Result<(), TooLong> {
        writer.member(&self.0, &self.1, level)
    }
}

pub(super) struct Writer {
    pub(super) out: Vec<u8>,
    pub(super) limit: usize,
    /// Whether members are sorted by name and not by key, as in the text of a key that is used as a
    /// name.
    pub(super) by_name: bool,
}

impl Writer {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            out: Vec::new(),
            limit,
            by_name: false,
        }
    }

    /// Appends a value, with line breaks if there is a level of indentation. The stack grows,
    /// because values that policies create can be nested deeper than documents.
    pub(super) fn value(&mut self, value: &Value, level: Option<usize>) -> Result<(), TooLong> {
        match value {
            Value::Array(_) | Value::Object(_) | Value::Set(_) => {
                stacker::maybe_grow(64 << 10, 1 << 20, || self.parts(value, level))?;
            }
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(true) => self.out.extend_from_slice(b"true"),
            Value::Bool(false) => self.out.extend_from_slice(b"false"),
            Value::Number(number) => {
                if let Some(digit) = number.digit() {
                    self.out.push(b'0' + digit);
                } else {
                    let text = number.text();
                    self.check(text.len())?;
                    self.out.extend_from_slice(text.as_bytes());
                }
            }
            Value::String(text) => self.string(text)?,
            Value::Bytes(bytes) => self.string(&bytes.to_lossy())?,
        }
        if self.out.len() > self.limit {
            return Err(TooLong(self.limit));
        }
        Ok(())
    }

    /// Appends an array, an object or a set.
    fn parts(&mut self, value: &Value, level: Option<usize>) -> Result<(), TooLong> {
        match value {
            Value::Array(items) => self.runs(items.runs(0), items.is_empty(), level, b"[]"),
            Value::Set(members) => self.items(members.iter(), level),
            Value::Object(members) if self.by_name => {
                let mut named = BTreeMap::new();
                for (key, member) in members {
                    named.insert(self.name(key)?, (key, member));
                }
                self.members(named.into_values(), level)
            }
            Value::Object(members) => {
                // Limits the number of members that are traversed to those that can be written.
                self.check(members.len().saturating_mul(MIN_MEMBER))?;
                let rest = self.limit.saturating_sub(self.out.len());
                let written = distinct_members(members, rest).map_err(|_| TooLong(self.limit))?;
                let members = written.as_ref().unwrap_or(members);
                match members.runs(0) {
                    Some(runs) => self.runs(runs, members.is_empty(), level, b"{}"),
                    None => self.members(members.iter(), level),
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Bytes(_) => Ok(()),
        }
    }

    /// Appends the contents of lists; unparsed text is copied.
    fn runs<T: WriteItem>(
        &mut self,
        runs: Runs<'_, T>,
        empty: bool,
        level: Option<usize>,
        brackets: &[u8; 2],
    ) -> Result<(), TooLong> {
        let [open, close] = *brackets;
        let inner = level.map(|level| level + 1);
        self.out.push(open);
        let mut at = 0;
        for (run, _) in runs {
            if let (Run::Text(text, length), None) = (&run, level) {
                self.separate(at, None);
                self.check(text.len())?;
                self.out.extend_from_slice(text.as_bytes());
                at += length;
                continue;
            }
            for item in run.items().iter() {
                self.separate(at, inner);
                item.write(self, inner)?;
                at += 1;
            }
        }
        self.close(close, empty, level);
        Ok(())
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
            self.member(key, member, inner)?;
        }
        self.close(b'}', empty, level);
        Ok(())
    }

    fn member(&mut self, key: &Value, value: &Value, level: Option<usize>) -> Result<(), TooLong> {
        self.member_name(key)?;
        self.colon(level.is_some());
        self.value(value, level)
    }

    /// Returns an error if `more` bytes would make the output too long.
    fn check(&self, more: usize) -> Result<(), TooLong> {
        match self.out.len().saturating_add(more) > self.limit {
            true => Err(TooLong(self.limit)),
            false => Ok(()),
        }
    }

    fn string(&mut self, text: &str) -> Result<(), TooLong> {
        self.check(text.len())?;
        self.out.push(b'"');
        escape_into(text.as_bytes(), &mut self.out);
        self.out.push(b'"');
        // Escapes are longer than the characters they replace.
        self.check(0)
    }

    /// Appends the name that represents a key.
    pub(super) fn member_name(&mut self, key: &Value) -> Result<(), TooLong> {
        let name = self.name(key)?;
        self.string(&name)
    }

    pub(super) fn colon(&mut self, pretty: bool) {
        let colon: &[u8] = if pretty { b": " } else { b":" };
        self.out.extend_from_slice(colon);
    }

    /// Returns the name that represents a key: the JSON text of a key that is not a string.
    pub(super) fn name<'v>(&self, key: &'v Value) -> Result<Cow<'v, str>, TooLong> {
        if let Some(name) = key.as_lossy() {
            return Ok(name);
        }
        let mut writer = Self {
            by_name: true,
            ..Self::new(self.limit.saturating_sub(self.out.len()))
        };
        let written = writer.value(key, None);
        written.map_err(|_| TooLong(self.limit))?;
        let text = String::from_utf8_lossy(&writer.out).into_owned();
        Ok(Cow::Owned(text))
    }

    /// Appends the comma (unless `at` is 0) and the line break that precede the item at this index.
    pub(super) fn separate(&mut self, at: usize, level: Option<usize>) {
        if at > 0 {
            self.out.push(b',');
        }
        self.break_line(level);
    }

    pub(super) fn close(&mut self, bracket: u8, empty: bool, level: Option<usize>) {
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

/// Appends bytes as the contents of a JSON string, between its quotes.
pub(super) fn escape_into(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
    {
        let (unescaped, tail) = rest.split_at(at);
        out.extend_from_slice(unescaped);
        let Some((special, tail)) = tail.split_first() else {
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
        rest = tail;
    }
    out.extend_from_slice(rest);
}

/// Whether keys of an object may have the same name. Strings among themselves have distinct names,
/// and so do null, booleans and numbers.
fn may_meet(members: &Object) -> bool {
    let is_string = |key: &Value| matches!(key, Value::String(_));
    let is_scalar = |key: &Value| matches!(key, Value::Null | Value::Bool(_) | Value::Number(_));
    !members.all_keys(is_string) && !members.all_keys(is_scalar)
}

/// Returns the members that are written to JSON, if some are not; `None` if all are. Objects with
/// only string keys are not copied.
///
/// # Errors
/// If the names together take more than `limit` bytes.
pub(super) fn distinct_members(members: &Object, limit: usize) -> Result<Option<Object>, TooLong> {
    if !may_meet(members) {
        return Ok(None);
    }
    // Both have random keys, so that an attacker cannot choose names that collide in both.
    let hashers = [RandomState::new(), RandomState::new()];
    let mut last = HashMap::default();
    let mut hidden = Vec::new();
    let mut taken = 0;
    for (at, key) in members.keys().enumerate() {
        let hash = hash(key, &hashers, &mut taken, limit)?;
        match last.entry(hash) {
            Entry::Vacant(free) => {
                free.insert(at);
            }
            Entry::Occupied(mut earlier) => hidden.push(earlier.insert(at)),
        }
    }
    if hidden.is_empty() {
        return Ok(None);
    }
    hidden.sort_unstable();
    let visible = members.iter().enumerate();
    let visible = visible.filter(|(at, _)| hidden.binary_search(at).is_err());
    let visible = visible.map(|(_, (key, value))| (key.clone(), value.clone()));
    Ok(Some(Object::of_members(visible.collect())))
}

/// Hashes the name of a key, and adds its length to `taken`.
fn hash(
    key: &Value,
    hashers: &[RandomState; 2],
    taken: &mut usize,
    limit: usize,
) -> Result<[u64; 2], TooLong> {
    let name = Writer::new(limit.saturating_sub(*taken)).name(key);
    let name = name.map_err(|_| TooLong(limit))?;
    *taken = taken.saturating_add(name.len());
    if *taken > limit {
        return Err(TooLong(limit));
    }
    Ok(hashers.each_ref().map(|hasher| {
        let mut hash = hasher.build_hasher();
        hash.write(name.as_bytes());
        hash.finish()
    }))
}
