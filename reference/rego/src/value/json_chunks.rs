//! JSON encoding in chunks, so that the full text is never in memory.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use super::item::Item;
use super::object::Member;
use super::tree::{Run, Runs};
use super::write::{Writer, escape_into};
use super::{Array, Number, Object, Text, Value};

/// Maximum length in bytes of a part that is written as a whole. The output of a longer part is
/// discarded, and the part is then written in pieces.
const SMALL_PART: usize = 1 << 10;

/// Number of members of a set that one lookup returns. Each lookup finds its first member by
/// comparisons.
const BATCH_SIZE: usize = 256;

/// Iterator over the remaining JSON text of a value. It shares the value, so that changes to the
/// original have no effect, and yields the text of [`Value::to_json`].
///
/// ```
/// use rego::Value;
/// use rego::value::JsonChunks;
///
/// let value = Value::from(vec![Value::from(1); 1000]);
/// let pieces: Vec<Vec<u8>> = JsonChunks::new(value.clone(), false).collect();
/// assert_eq!(pieces.concat(), value.to_json(false, usize::MAX)?);
/// # Ok::<(), rego::value::TooLong>(())
/// ```
#[derive(Debug, Clone)]
pub struct JsonChunks {
    /// The whole value, until its encoding is started.
    whole: Option<Value>,
    /// Stack of the parts whose encoding is started, the outermost first.
    open: Vec<OpenValue>,
    pretty: bool,
    /// Whether members are written in the order of their names, not of their keys.
    by_name: bool,
    /// Target length of a piece in bytes.
    size: usize,
}

/// A partially written value.
#[derive(Debug, Clone)]
enum OpenValue {
    /// An array, and the number of items already written.
    Array(Array, usize),
    Set(Set),
    Object(Members),
    /// A string, and the number of its bytes already written.
    String(Text, usize),
    /// A number, and the number of its digits already written.
    Number(Number, usize),
    /// The text of a key that is used as the name of a member.
    Name(Box<Name>),
}

/// A key that is not a string, whose text is partially written between quotes.
#[derive(Debug, Clone)]
struct Name {
    /// Encoder of the remaining text of the key.
    rest: JsonChunks,
    /// Current piece of the text.
    text: Vec<u8>,
    /// Number of bytes of the current piece already written.
    done: usize,
}

/// A partially written set.
#[derive(Debug, Clone)]
struct Set {
    members: Arc<BTreeSet<Value>>,
    /// Number of members already written.
    done: usize,
    /// The next members, in reverse order.
    next: Vec<Value>,
    /// The last member that was looked up.
    reached: Option<Value>,
}

/// A partially written object.
#[derive(Debug, Clone)]
struct Members {
    members: Object,
    /// Number of members already written.
    done: usize,
    /// Whether the name of the next member is written too.
    named: bool,
}

/// Next action after a part was written up to some position.
enum Progress {
    /// The part is complete.
    Done,
    /// This nested part has to be written first.
    Into(OpenValue),
    /// The piece is full.
    Full,
}

impl JsonChunks {
    /// Default length of a piece. No piece is longer than 64 KiB, except for the indentation of
    /// values that are nested thousands of levels deep.
    const SIZE: usize = 60 << 10;

    /// Encodes a value, on one line or, if `pretty`, indented by two spaces. Traverses the whole
    /// value first.
    pub fn new(value: Value, pretty: bool) -> Self {
        let distinct = value.with_distinct_names();
        Self::of_distinct(distinct.unwrap_or(value), pretty)
    }

    /// Encodes a value in which all members have distinct names.
    pub fn of_distinct(value: Value, pretty: bool) -> Self {
        Self {
            whole: Some(value),
            open: Vec::new(),
            pretty,
            by_name: false,
            size: Self::SIZE,
        }
    }

    /// Encodes the name that represents a key, without quotes and escapes.
    fn of_name(key: Value) -> Self {
        Self {
            by_name: true,
            ..Self::of_distinct(key, false).sized(SMALL_PART)
        }
    }

    /// Sets the length of pieces, in bytes.
    #[must_use]
    pub fn sized(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// Whether everything is written.
    pub fn is_done(&self) -> bool {
        self.whole.is_none() && self.open.is_empty()
    }
}

impl Iterator for JsonChunks {
    type Item = Vec<u8>;

    /// Returns the next piece of the text. It is shorter if its encoding is costly.
    fn next(&mut self) -> Option<Vec<u8>> {
        if self.is_done() {
            return None;
        }
        let mut piece = Piece::new(self.size, self.pretty, self.by_name);
        if let Some(value) = self.whole.take() {
            self.open.extend(piece.attempt(&value, 0).err());
        }
        while !piece.is_full() {
            let level = self.open.len().saturating_sub(1);
            let Some(part) = self.open.last_mut() else {
                break;
            };
            match part.write(&mut piece, level) {
                Progress::Done => {
                    self.open.pop();
                }
                Progress::Into(part) => self.open.push(part),
                Progress::Full => break,
            }
        }
        Some(piece.writer.out)
    }
}

/// A piece of the text.
struct Piece {
    writer: Writer,
    /// Target length.
    size: usize,
    /// Number of bytes of discarded output, which cost as much time as other output.
    vain: usize,
    pretty: bool,
}

impl Piece {
    fn new(size: usize, pretty: bool, by_name: bool) -> Self {
        let mut writer = Writer::new(usize::MAX);
        writer.by_name = by_name;
        writer.out.reserve(size + 2 * SMALL_PART);
        Self {
            writer,
            size,
            vain: 0,
            pretty,
        }
    }

    fn remaining(&self) -> usize {
        let spent = self.writer.out.len().saturating_add(self.vain);
        self.size.saturating_sub(spent)
    }

    fn is_full(&self) -> bool {
        self.remaining() == 0
    }

    /// Returns the level of indentation, if there is any.
    fn level(&self, level: usize) -> Option<usize> {
        self.pretty.then_some(level)
    }

    /// Writes a value if its text is short, or else returns it as a part to start.
    fn attempt(&mut self, value: &Value, level: usize) -> Result<(), OpenValue> {
        let level = self.level(level);
        if self.small(|writer| writer.value(value, level).is_ok()) {
            return Ok(());
        }
        Err(match value {
            Value::Array(items) => {
                self.writer.out.push(b'[');
                OpenValue::Array(items.clone(), 0)
            }
            Value::Set(members) => {
                self.writer.out.push(b'[');
                OpenValue::Set(Set::of(Arc::clone(members)))
            }
            Value::Object(members) => {
                self.writer.out.push(b'{');
                OpenValue::Object(Members {
                    members: self.ordered(members),
                    done: 0,
                    named: false,
                })
            }
            Value::String(text) => {
                self.writer.out.push(b'"');
                OpenValue::String(text.clone(), 0)
            }
            Value::Bytes(bytes) => {
                self.writer.out.push(b'"');
                OpenValue::String(bytes.to_lossy().into(), 0)
            }
            Value::Number(number) => OpenValue::Number(number.clone(), 0),
            // The texts of these values are always short.
            Value::Null | Value::Bool(_) => return Ok(()),
        })
    }

    /// Writes the name that represents a key if it is short, or else returns it as a part to start.
    fn name(&mut self, key: &Value) -> Result<(), OpenValue> {
        if self.small(|writer| writer.member_name(key).is_ok()) {
            return Ok(());
        }
        self.writer.out.push(b'"');
        Err(match key {
            Value::String(text) => OpenValue::String(text.clone(), 0),
            Value::Bytes(bytes) => OpenValue::String(bytes.to_lossy().into(), 0),
            key => OpenValue::Name(Box::new(Name::of(key.clone()))),
        })
    }

    /// Calls `write`, and discards its output if that is too long. Returns whether it is retained.
    fn small(&mut self, write: impl FnOnce(&mut Writer) -> bool) -> bool {
        let before = self.writer.out.len();
        self.writer.limit = before + SMALL_PART;
        let written = write(&mut self.writer);
        self.writer.limit = usize::MAX;
        if !written {
            self.vain += SMALL_PART;
            self.writer.out.truncate(before);
        }
        written
    }

    /// Returns the members in the order of output. String keys are in the order of their names
    /// already.
    fn ordered(&self, members: &Object) -> Object {
        if !self.writer.by_name {
            return members.clone();
        }
        let named = members.keys().all(|key| key.as_str().is_some());
        if named {
            return members.clone();
        }
        let named = members.iter().map(|(key, member)| {
            let name = self.writer.name(key).unwrap_or_default();
            (Value::from(name.as_ref()), member.clone())
        });
        Object::of_members(named.collect())
    }

    /// Writes a list stored as text, if it fits, and counts its items.
    fn text<T: Item>(&mut self, run: &Run<'_, T>, done: &mut usize) -> bool {
        let Run::Text(text, length) = run else {
            return false;
        };
        if self.pretty || text.len() >= self.remaining() {
            return false;
        }
        self.writer.separate(*done, None);
        self.writer.out.extend_from_slice(text.as_bytes());
        *done += length;
        true
    }

    /// Writes text between quotes until the piece is full; returns the position in the text
    /// reached.
    fn escape(&mut self, text: &[u8], mut done: usize) -> usize {
        while let Some(rest) = text.get(done..).filter(|rest| !rest.is_empty()) {
            if self.is_full() {
                break;
            }
            // An escape takes at most six bytes.
            let next = rest.get(..SMALL_PART / 6).unwrap_or(rest);
            escape_into(next, &mut self.writer.out);
            done += next.len();
        }
        done
    }
}

impl OpenValue {
    /// Continues a part at a level of indentation.
    fn write(&mut self, piece: &mut Piece, level: usize) -> Progress {
        match self {
            Self::Array(items, done) => {
                let step = write_array(items, done, piece, level);
                step.unwrap_or_else(|| close(b']', piece, level))
            }
            Self::Set(members) => members.write(piece, level),
            Self::Object(members) => members.write(piece, level),
            Self::String(text, done) => {
                *done = piece.escape(text.as_bytes(), *done);
                if *done < text.len() {
                    return Progress::Full;
                }
                piece.writer.out.push(b'"');
                Progress::Done
            }
            Self::Number(number, done) => {
                let digits = number.text();
                let rest = digits.as_bytes().get(*done..).unwrap_or_default();
                let next = rest.get(..piece.remaining()).unwrap_or(rest);
                piece.writer.out.extend_from_slice(next);
                *done += next.len();
                match next.len() < rest.len() {
                    true => Progress::Full,
                    false => Progress::Done,
                }
            }
            Self::Name(name) => name.write(piece),
        }
    }
}

/// Writes the remaining items of an array, like [`write_items`].
fn write_array(
    items: &Array,
    done: &mut usize,
    piece: &mut Piece,
    level: usize,
) -> Option<Progress> {
    for (run, from) in items.runs(*done) {
        if from == 0 && piece.text(&run, done) {
            continue;
        }
        let list = run.items();
        let rest = list.iter().skip(from);
        if let Some(step) = write_items(rest, done, piece, level) {
            return Some(step);
        }
    }
    None
}

/// Writes items until the piece is full, and counts them. Returns `None` if all of them are
/// written.
fn write_items<'v>(
    items: impl Iterator<Item = &'v Value>,
    done: &mut usize,
    piece: &mut Piece,
    level: usize,
) -> Option<Progress> {
    for item in items {
        if piece.is_full() {
            return Some(Progress::Full);
        }
        let inner = piece.level(level + 1);
        piece.writer.separate(*done, inner);
        *done += 1;
        if let Err(part) = piece.attempt(item, level + 1) {
            return Some(Progress::Into(part));
        }
    }
    None
}

/// Closes an array or object.
fn close(bracket: u8, piece: &mut Piece, level: usize) -> Progress {
    let level = piece.level(level);
    piece.writer.close(bracket, false, level);
    Progress::Done
}

impl Name {
    fn of(key: Value) -> Self {
        Self {
            rest: JsonChunks::of_name(key),
            text: Vec::new(),
            done: 0,
        }
    }

    /// Writes the name in small steps, because escapes grow with every level of nested names.
    fn write(&mut self, piece: &mut Piece) -> Progress {
        loop {
            self.done = piece.escape(&self.text, self.done);
            if self.done < self.text.len() {
                return Progress::Full;
            }
            let Some(next) = self.rest.next() else {
                piece.writer.out.push(b'"');
                return Progress::Done;
            };
            (self.text, self.done) = (next, 0);
        }
    }
}

impl Set {
    fn of(set: Arc<BTreeSet<Value>>) -> Self {
        Self {
            members: set,
            done: 0,
            next: Vec::new(),
            reached: None,
        }
    }

    fn write(&mut self, piece: &mut Piece, level: usize) -> Progress {
        loop {
            if self.next.is_empty() && !self.look_up() {
                return close(b']', piece, level);
            }
            let before = self.done;
            let step = write_items(self.next.iter().rev(), &mut self.done, piece, level);
            let left = self.next.len() - (self.done - before);
            self.next.truncate(left);
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Looks up the next members. Returns whether there are any.
    fn look_up(&mut self) -> bool {
        let start = match &self.reached {
            Some(last) => Bound::Excluded(last),
            None => Bound::Unbounded,
        };
        let rest = self.members.range((start, Bound::Unbounded));
        self.next = rest.take(BATCH_SIZE).cloned().collect();
        self.reached = self.next.last().cloned();
        self.next.reverse();
        !self.next.is_empty()
    }
}

impl Members {
    fn write(&mut self, piece: &mut Piece, level: usize) -> Progress {
        let members = self.members.clone();
        let step = match members.runs(self.done) {
            Some(runs) => self.write_runs(runs, piece, level),
            None => self.write_some(members.iter().skip(self.done), piece, level),
        };
        step.unwrap_or_else(|| close(b'}', piece, level))
    }

    fn write_runs(
        &mut self,
        runs: Runs<'_, Member>,
        piece: &mut Piece,
        level: usize,
    ) -> Option<Progress> {
        for (run, from) in runs {
            if from == 0 && !self.named && piece.text(&run, &mut self.done) {
                continue;
            }
            let list = run.items();
            let rest = list.iter().skip(from).map(|(key, value)| (key, value));
            if let Some(step) = self.write_some(rest, piece, level) {
                return Some(step);
            }
        }
        None
    }

    /// Writes members until the piece is full, and counts them. Returns `None` if all of them are
    /// written.
    fn write_some<'v>(
        &mut self,
        members: impl Iterator<Item = (&'v Value, &'v Value)>,
        piece: &mut Piece,
        level: usize,
    ) -> Option<Progress> {
        for (key, member) in members {
            if piece.is_full() {
                return Some(Progress::Full);
            }
            if !self.named {
                let inner = piece.level(level + 1);
                piece.writer.separate(self.done, inner);
                if let Err(name) = piece.name(key) {
                    self.named = true;
                    return Some(Progress::Into(name));
                }
            }
            piece.writer.colon(piece.pretty);
            self.named = false;
            self.done += 1;
            if let Err(part) = piece.attempt(member, level + 1) {
                return Some(Progress::Into(part));
            }
        }
        None
    }
}
