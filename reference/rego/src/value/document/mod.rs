//! Parsing of JSON documents for storage.
//!
//! Values are written to a buffer in output format as they are parsed, with each object in the
//! order of its keys. Long lists and objects are stored only as that text ([`super::lazy_chunk`]),
//! in chunks of a few kilobytes, so that a lookup of one item parses one chunk.

mod parallel_parse;

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::item::Item;
use super::json::Reader;
use super::lazy_chunk::Chunk;
use super::object::{Member, Shapes};
use super::tree::{FILLED, Subtree, Tree, WIDTH};
use super::write::escape_into;
use super::{Array, Object, SyntaxError, Value, from_json};
use parallel_parse::{Helpers, Parts, Speculative};

/// Minimum length in bytes of a text that is stored as a separate chunk.
const MIN_CHUNK_LENGTH: usize = 4 << 10;

/// Maximum length of a chunk in bytes, unless it is one item.
const MAX_CHUNK_LENGTH: usize = 16 << 10;

/// Number of buffered bytes of a list at which chunks of it are created.
const CHUNK_THRESHOLD: usize = 64 << 10;

/// Minimum length of a text, in bytes, that another thread parses.
const WORTH_THREADS: usize = 8 << 20;

/// Parses a text like [`from_json`], with all processors if it is long. The result takes about as
/// much memory as the text, until items of arrays and members of objects are accessed.
///
/// # Errors
/// As [`from_json`].
pub fn document_from_json(text: &[u8]) -> Result<Value, SyntaxError> {
    if text.len() < MIN_CHUNK_LENGTH {
        return from_json(text);
    }
    let threads = match text.len() < WORTH_THREADS {
        true => 1,
        false => thread::available_parallelism().map_or(1, usize::from),
    };
    read(text, threads, WORTH_THREADS)
}

/// Parses a text with at most `threads` threads. `worth` is the minimum number of bytes for each.
fn read(text: &[u8], threads: usize, worth: usize) -> Result<Value, SyntaxError> {
    let ordered = thread::scope(|scope| {
        let helpers = Helpers {
            scope,
            left: threads - 1,
            worth,
        };
        Documents::new(Reader::new(text)?, Some(helpers), Arc::default()).parse()
    });
    match ordered {
        Ok(value) => Ok(value),
        Err(Stop::Syntax(error)) => Err(*error),
        Err(Stop::Disorder) => {
            match Documents::new(Reader::new(text)?, None, Arc::default()).parse() {
                Ok(value) => Ok(value),
                Err(Stop::Syntax(error)) => Err(*error),
                // Without helpers, chunks of an object are not created before its end.
                Err(Stop::Disorder) => from_json(text),
            }
        }
    }
}

/// Reason for an early end of parsing. It is small, because every parse function returns it or a
/// value.
enum Stop {
    Syntax(Box<SyntaxError>),
    /// A key sorts before keys that are in chunks already.
    Disorder,
}

impl From<SyntaxError> for Stop {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(Box::new(error))
    }
}

struct Documents<'s, 't> {
    reader: Reader<'t>,
    /// Helper threads; `None` if no chunks of an object may be created before its end is parsed.
    helpers: Option<Helpers<'s, 't>>,
    /// Result of a speculative parse in another thread.
    ahead: Option<Speculative<'s>>,
    /// Position in the text of the last speculative split. The next split is after it.
    guessed: usize,
    /// Set once the result of this parse is not needed any more.
    useless: Arc<AtomicBool>,
    /// Parsed values that do not belong to a chunk yet, in output format.
    written: String,
    /// Items and members of all open arrays and objects.
    entries: Vec<Entry>,
    shapes: Shapes,
    /// Positions of the members in the order of their keys, of the last object that was not sorted.
    order: Vec<usize>,
    /// Buffer for reordered text.
    spare: String,
}

/// A parsed item or member of an open array or object.
struct Entry {
    /// Start of the text of the entry in the buffer; `end` is its end.
    start: usize,
    end: usize,
    /// Length in bytes of a key without escapes, which follows the first quote of the text.
    key: usize,
    /// Key of a member, if it is written with escapes or the entry has no text.
    name: Option<Box<str>>,
    /// The value, if it has chunks, and the entry therefore no text.
    value: Option<Box<Value>>,
}

/// An open array or object.
struct List<T: Kind> {
    /// Start of the text of the list in the buffer.
    start: usize,
    /// Number of entries that belong to the enclosing lists.
    first_entry: usize,
    /// Chunks created so far.
    parts: Vec<Subtree<T>>,
    /// Whether the keys were sorted so far.
    is_ordered: bool,
}

/// Kind of a list: array or object.
trait Kind: Item {
    const OPEN: char;
    const CLOSE: char;
    const EXPECTED: &str;

    fn of(key: &str, value: Value) -> Self;

    fn mark_of(key: &str) -> Self::Mark;

    /// Creates the value of a list that has no chunks.
    fn short(items: Vec<Self>, shapes: &mut Shapes) -> Value;

    fn long(tree: Tree<Self>) -> Value;

    /// Whether a chunk with this mark may follow an entry with this key.
    fn follows(mark: &Self::Mark, key: &str) -> bool;

    fn to_rest(parts: Vec<Subtree<Self>>) -> Parts;

    fn of_rest(parts: Parts) -> Option<Vec<Subtree<Self>>>;
}

impl Kind for Value {
    const OPEN: char = '[';
    const CLOSE: char = ']';
    const EXPECTED: &str = "expected `,` or `]`";

    fn of(_: &str, value: Value) -> Self {
        value
    }

    fn mark_of(_: &str) {}

    fn short(items: Vec<Self>, _: &mut Shapes) -> Value {
        Value::Array(Array::from(items))
    }

    fn long(tree: Tree<Self>) -> Value {
        Value::Array(Array::of_tree(tree))
    }

    fn follows((): &(), _: &str) -> bool {
        true
    }

    fn to_rest(parts: Vec<Subtree<Self>>) -> Parts {
        Parts::Items(parts)
    }

    fn of_rest(parts: Parts) -> Option<Vec<Subtree<Self>>> {
        match parts {
            Parts::Items(parts) => Some(parts),
            Parts::Members(_) => None,
        }
    }
}

impl Kind for Member {
    const OPEN: char = '{';
    const CLOSE: char = '}';
    const EXPECTED: &str = "expected `,` or `}`";

    fn of(key: &str, value: Value) -> Self {
        (Value::from(key), value)
    }

    fn mark_of(key: &str) -> Value {
        Value::from(key)
    }

    fn short(mut members: Vec<Self>, shapes: &mut Shapes) -> Value {
        Value::Object(shapes.object(&mut members, 0))
    }

    fn long(tree: Tree<Self>) -> Value {
        Value::Object(Object::of_tree(tree))
    }

    fn follows(mark: &Value, key: &str) -> bool {
        mark.as_str().is_some_and(|first| first > key)
    }

    fn to_rest(parts: Vec<Subtree<Self>>) -> Parts {
        Parts::Members(parts)
    }

    fn of_rest(parts: Parts) -> Option<Vec<Subtree<Self>>> {
        match parts {
            Parts::Members(parts) => Some(parts),
            Parts::Items(_) => None,
        }
    }
}

impl<'s, 't: 's> Documents<'s, 't> {
    fn new(reader: Reader<'t>, helpers: Option<Helpers<'s, 't>>, useless: Arc<AtomicBool>) -> Self {
        Self {
            reader,
            helpers,
            ahead: None,
            guessed: 0,
            useless,
            written: String::new(),
            entries: Vec::new(),
            shapes: Shapes::default(),
            order: Vec::new(),
            spare: String::new(),
        }
    }

    fn parse(mut self) -> Result<Value, Stop> {
        let value = self.value(0)?;
        self.reader.end()?;
        match value {
            Some(value) => Ok(*value),
            None => Ok(from_json(self.written.as_bytes())?),
        }
    }

    /// Parses a value and writes it to the buffer, unless it has chunks.
    fn value(&mut self, depth: usize) -> Result<Option<Box<Value>>, Stop> {
        self.reader.skip_space();
        match self.reader.peek() {
            Some(b'{') => self.list::<Member>(depth),
            Some(b'[') => self.list::<Value>(depth),
            Some(b'"') => {
                self.string()?;
                Ok(None)
            }
            Some(b'-' | b'0'..=b'9') => {
                let number = self.reader.number_text()?;
                self.written.push_str(number);
                Ok(None)
            }
            _ => {
                let start = self.reader.at;
                self.reader.value(depth)?;
                let word = self.reader.text.get(start..self.reader.at);
                self.written.push_str(word.unwrap_or_default());
                Ok(None)
            }
        }
    }

    /// Parses a string and writes it to the buffer; returns the string if it is written with
    /// escapes.
    fn string(&mut self) -> Result<Option<Box<str>>, Stop> {
        self.reader.at += 1;
        let prefix = self.reader.unescaped_run();
        self.written.push('"');
        if self.reader.peek() == Some(b'"') {
            self.reader.at += 1;
            self.written.push_str(prefix);
            self.written.push('"');
            return Ok(None);
        }
        let text = self.reader.string_from(prefix)?;
        let mut escaped = Vec::with_capacity(text.len());
        escape_into(text.as_bytes(), &mut escaped);
        self.written.push_str(&String::from_utf8_lossy(&escaped));
        self.written.push('"');
        Ok(Some(text.as_str().into()))
    }

    /// Parses a key and its colon, and writes them to the buffer.
    fn key(&mut self, entry: &mut Entry) -> Result<(), Stop> {
        self.reader.skip_space();
        if self.reader.peek() != Some(b'"') {
            return Err(self.reader.error("expected a member name").into());
        }
        entry.name = self.string()?;
        entry.key = self.written.len() - entry.start - 2;
        if !self.reader.eat(b':') {
            return Err(self.reader.error("expected `:`").into());
        }
        self.written.push(':');
        Ok(())
    }

    /// Parses an array or an object.
    fn list<T: Kind>(&mut self, depth: usize) -> Result<Option<Box<Value>>, Stop> {
        let depth = self.reader.enter(depth)?;
        let mut list = self.begin::<T>();
        if !self.reader.eat(T::CLOSE as u8) {
            self.entries(&mut list, depth)?;
        }
        Ok(self.close(list))
    }

    fn begin<T: Kind>(&mut self) -> List<T> {
        let start = self.written.len();
        self.written.push(T::OPEN);
        List {
            start,
            first_entry: self.entries.len(),
            parts: Vec::new(),
            is_ordered: true,
        }
    }

    /// Parses items or members, and the closing bracket.
    fn entries<T: Kind>(&mut self, list: &mut List<T>, depth: usize) -> Result<(), Stop> {
        loop {
            self.entry(list, depth)?;
            if self.reader.eat(T::CLOSE as u8) {
                return Ok(());
            }
            if !self.reader.eat(b',') {
                return Err(self.reader.error(T::EXPECTED).into());
            }
            let reached = self.reader.at;
            if self.ahead.as_ref().is_some_and(|ahead| ahead.at <= reached)
                && let Some(ahead) = self.ahead.take()
                && self.join(list, depth, ahead)?
            {
                return Ok(());
            }
        }
    }

    /// Parses an item or a member.
    fn entry<T: Kind>(&mut self, list: &mut List<T>, depth: usize) -> Result<(), Stop> {
        let before = self.written.len();
        if before > list.start + 1 {
            self.written.push(',');
        }
        let start = self.written.len();
        let mut entry = Entry {
            start,
            end: start,
            key: 0,
            name: None,
            value: None,
        };
        if T::OPEN == Member::OPEN {
            self.key(&mut entry)?;
            let last = self
                .entries
                .get(list.first_entry..)
                .and_then(<[Entry]>::last);
            let name = entry.name(&self.written);
            if last.is_some_and(|last| last.name(&self.written) >= name) {
                if !list.parts.is_empty() {
                    return Err(Stop::Disorder);
                }
                list.is_ordered = false;
            }
        }
        entry.value = self.value(depth)?;
        if entry.value.is_some() {
            entry.name = Some(entry.name(&self.written).into());
            entry.start = before;
            self.written.truncate(before);
        }
        entry.end = self.written.len();
        self.entries.push(entry);
        let enough = self.written.len() - list.start >= CHUNK_THRESHOLD;
        if enough && list.is_ordered && (self.helpers.is_some() || T::OPEN != Member::OPEN) {
            if self.useless.load(Ordering::Relaxed) {
                return Err(Stop::Disorder);
            }
            self.read_ahead::<T>(depth);
            self.part(list);
        }
        Ok(())
    }

    /// Creates chunks of the first entries. The last entries remain, among them the highest key.
    fn part<T: Kind>(&mut self, list: &mut List<T>) {
        let mut entries = self.entries.split_off(list.first_entry);
        let mut rest = entries.as_mut_slice();
        while rest.len() > WIDTH {
            let (group, tail) = rest.split_at_mut(group(rest));
            list.parts.extend(self.leaf(group));
            rest = tail;
        }
        let begin = list.start + 1;
        let removed = rest.first().map_or(0, |first| first.start - begin);
        self.written.drain(begin..begin + removed);
        let moved = rest.len();
        for mut entry in entries.drain(entries.len() - moved..) {
            entry.start -= removed;
            entry.end -= removed;
            self.entries.push(entry);
        }
    }

    /// Creates a chunk of entries.
    fn leaf<T: Kind>(&self, entries: &mut [Entry]) -> Option<Subtree<T>> {
        let mark = T::mark_of(entries.first()?.name(&self.written));
        let length: usize = entries.iter().map(Entry::length).sum();
        let leaf = match entries.iter().all(Entry::is_text) && length <= MAX_CHUNK_LENGTH {
            true => Chunk::unread(&self.text(entries), entries.len()),
            false => self.read(entries).into(),
        };
        Some(Subtree::of_leaf(mark, leaf))
    }

    /// Returns the text of entries, with commas between them.
    fn text(&self, entries: &[Entry]) -> Cow<'_, str> {
        let follows = |two: &[Entry]| matches!(two, [one, next] if next.start == one.end + 1);
        match (entries.first(), entries.last()) {
            (Some(first), Some(last)) if entries.windows(2).all(follows) => {
                let text = self.written.get(first.start..last.end);
                Cow::Borrowed(text.unwrap_or_default())
            }
            _ => {
                let texts: Vec<&str> = entries.iter().map(|entry| self.text_of(entry)).collect();
                Cow::Owned(texts.join(","))
            }
        }
    }

    fn text_of(&self, entry: &Entry) -> &str {
        let text = self.written.get(entry.start..entry.end);
        text.unwrap_or_default()
    }

    fn read<T: Kind>(&self, entries: &mut [Entry]) -> Vec<T> {
        let mut items = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.value.take() {
                Some(value) => items.push(T::of(entry.name(&self.written), *value)),
                None => items.extend(T::read(self.text_of(entry))),
            }
        }
        items
    }

    /// Returns all chunks of a list, including those of its last entries.
    fn parts<T: Kind>(&mut self, list: &mut List<T>) -> Vec<Subtree<T>> {
        let mut entries = self.entries.split_off(list.first_entry);
        let mut rest = entries.as_mut_slice();
        while !rest.is_empty() {
            let (group, tail) = rest.split_at_mut(group(rest));
            list.parts.extend(self.leaf(group));
            rest = tail;
        }
        mem::take(&mut list.parts)
    }

    /// Ends an array or an object.
    fn close<T: Kind>(&mut self, mut list: List<T>) -> Option<Box<Value>> {
        if !list.is_ordered {
            self.order(&list);
        }
        let entries = self.entries.get(list.first_entry..).unwrap_or_default();
        let is_text = list.parts.is_empty() && entries.iter().all(Entry::is_text);
        let length: usize = entries.iter().map(Entry::length).sum();
        if is_text && length < MIN_CHUNK_LENGTH {
            if !list.is_ordered {
                self.rewrite(&list);
            }
            self.written.push(T::CLOSE);
            self.entries.truncate(list.first_entry);
            return None;
        }
        if !list.is_ordered {
            self.arrange(&list);
        }
        let entries = self.entries.get(list.first_entry..).unwrap_or_default();
        let value = if list.parts.is_empty() && length < MIN_CHUNK_LENGTH && entries.len() <= WIDTH
        {
            let mut entries = self.entries.split_off(list.first_entry);
            T::short(self.read(&mut entries), &mut self.shapes)
        } else {
            T::long(Tree::of_parts(self.parts(&mut list)))
        };
        self.written.truncate(list.start);
        Some(Box::new(value))
    }

    /// Determines the order of members; of those with the same key the last one is retained. Tries
    /// the order of the preceding object first: most objects have the same keys in the same
    /// positions.
    fn order<T: Kind>(&mut self, list: &List<T>) {
        let entries = self.entries.get(list.first_entry..).unwrap_or_default();
        let written = self.written.as_str();
        let name = |at: &usize| entries.get(*at).map(|entry| entry.name(written));
        let follows = |left: &usize, right: &usize| match (name(left), name(right)) {
            (Some(left), Some(right)) => left < right,
            _ => false,
        };
        if self.order.len() == entries.len() && self.order.is_sorted_by(follows) {
            return;
        }
        self.order.clear();
        self.order.extend(0..entries.len());
        self.order
            .sort_by(|left, right| name(left).cmp(&name(right)));
        self.order.dedup_by(|later, earlier| {
            let same = name(later) == name(earlier);
            if same {
                mem::swap(later, earlier);
            }
            same
        });
    }

    /// Writes members in their order.
    fn rewrite<T: Kind>(&mut self, list: &List<T>) {
        let mut text = mem::take(&mut self.spare);
        let entries = self.entries.get(list.first_entry..).unwrap_or_default();
        for entry in self.order.iter().filter_map(|at| entries.get(*at)) {
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(self.text_of(entry));
        }
        self.written.truncate(list.start + 1);
        self.written.push_str(&text);
        text.clear();
        self.spare = text;
    }

    /// Sorts the entries of an object's members by key.
    fn arrange<T: Kind>(&mut self, list: &List<T>) {
        let entries = self.entries.drain(list.first_entry..);
        let mut entries: Vec<Option<Entry>> = entries.map(Some).collect();
        let ordered = self
            .order
            .iter()
            .filter_map(|at| entries.get_mut(*at)?.take());
        self.entries.extend(ordered);
    }
}

/// Returns the number of leading entries that become one chunk: all of them are text, and together
/// not too long, or all of them have chunks.
fn group(entries: &[Entry]) -> usize {
    let mut length = 0;
    let is_text = entries.first().is_some_and(Entry::is_text);
    let joins_chunk = |entry: &&Entry| {
        length += entry.length();
        entry.is_text() == is_text && length <= MAX_CHUNK_LENGTH
    };
    let count = entries.iter().take(FILLED).take_while(joins_chunk).count();
    count.max(1).min(entries.len())
}

impl Entry {
    /// Returns the key of a member.
    fn name<'e>(&'e self, written: &'e str) -> &'e str {
        match &self.name {
            Some(name) => name,
            None => {
                let start = self.start + 1;
                let key = written.get(start..start + self.key);
                key.unwrap_or_default()
            }
        }
    }

    fn is_text(&self) -> bool {
        self.value.is_none()
    }

    /// Returns the length of the entry's text and a comma; 0 if it has no text.
    fn length(&self) -> usize {
        match self.is_text() {
            true => self.end - self.start + 1,
            false => 0,
        }
    }
}
