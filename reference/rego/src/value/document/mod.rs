//! Parsing of JSON documents for storage.
//!
//! What is read is written down at once as values are written, each object in the order of its
//! keys. Of long lists and objects only that text is kept ([`super::lazy_chunk`]), in parts of a few
//! kilobytes, so that who looks for one item has one of them read.

mod parallel_parse;

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::json::Reader;
use super::lazy_chunk::Chunk;
use super::object::{Member, Shapes};
use super::tree::{FILLED, Item, Part, Tree, WIDTH};
use super::write::escape_into;
use super::{Array, Object, SyntaxError, Value, from_json};
use parallel_parse::{Helpers, Parts, Speculative};

/// What is shorter than this is no part of its own.
const SHORT: usize = 4 << 10;

/// A part is not longer than this, unless it is one item.
const LONG: usize = 16 << 10;

/// When so much of a list is written down, parts are made of it.
const ENOUGH: usize = 64 << 10;

/// A text that is shorter is read by one thread.
const WORTH_THREADS: usize = 8 << 20;

/// Reads a text as [`from_json`] does, with all processors if it is long. It takes about as much
/// memory as the text, until items of arrays and members of objects are looked at.
///
/// # Errors
/// As [`from_json`].
pub fn document_from_json(text: &[u8]) -> Result<Value, SyntaxError> {
    if text.len() < SHORT {
        return from_json(text);
    }
    let threads = match text.len() < WORTH_THREADS {
        true => 1,
        false => thread::available_parallelism().map_or(1, usize::from),
    };
    read(text, threads, WORTH_THREADS)
}

/// Reads a text with so many threads, if it is worth it.
fn read(text: &[u8], threads: usize, worth: usize) -> Result<Value, SyntaxError> {
    let ordered = thread::scope(|scope| {
        let helpers = Helpers {
            scope,
            left: threads - 1,
            worth,
        };
        Documents::new(Reader::new(text)?, Some(helpers), Arc::default()).whole()
    });
    match ordered {
        Ok(value) => Ok(value),
        Err(Stop::Syntax(error)) => Err(*error),
        Err(Stop::Disorder) => {
            match Documents::new(Reader::new(text)?, None, Arc::default()).whole() {
                Ok(value) => Ok(value),
                Err(Stop::Syntax(error)) => Err(*error),
                // Parts of an object are not made before its end.
                Err(Stop::Disorder) => from_json(text),
            }
        }
    }
}

/// Why reading has ended early. Every value that is read hands one on or a value, so that both are
/// small.
enum Stop {
    Syntax(Box<SyntaxError>),
    /// A key belongs before others of which parts were made.
    Disorder,
}

impl From<SyntaxError> for Stop {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(Box::new(error))
    }
}

struct Documents<'s, 't> {
    reader: Reader<'t>,
    /// Who can help; without them, no parts of an object are made before its end is read.
    helpers: Option<Helpers<'s, 't>>,
    /// What is read meanwhile.
    ahead: Option<Speculative<'s>>,
    /// The place of the last guess; until it is reached there is no other.
    guessed: usize,
    /// Whether nobody waits for this any more.
    useless: Arc<AtomicBool>,
    /// What was read and belongs to no part yet, as values are written.
    written: String,
    /// The items and members of all that has begun.
    entries: Vec<Entry>,
    shapes: Shapes,
    /// The places of the members of an object in the order of their keys, of the last one that was
    /// in another order.
    order: Vec<usize>,
    /// Room for a text that is put in order.
    spare: String,
}

/// An item, or a member.
struct Entry {
    /// Where its text begins and ends.
    start: usize,
    end: usize,
    /// The length of a key that is written as it is, behind the first quote of the text.
    key: usize,
    /// The key of a member, if it is written with escapes or stands in no text.
    name: Option<Box<str>>,
    /// The value, if there is no text because it has parts.
    value: Option<Box<Value>>,
}

/// An array or an object that has begun.
struct List<T: Kind> {
    /// Where its text begins.
    start: usize,
    /// The number of entries that belong to what is around it.
    behind: usize,
    /// The parts that are made.
    parts: Vec<Part<T>>,
    /// Whether the keys were in their order so far.
    is_ordered: bool,
}

/// What a list holds.
trait Kind: Item {
    const OPEN: char;
    const CLOSE: char;
    const EXPECTED: &str;

    fn of(key: &str, value: Value) -> Self;

    fn mark_of(key: &str) -> Self::Mark;

    /// What there is if no list of it is kept as text.
    fn short(items: Vec<Self>, shapes: &mut Shapes) -> Value;

    fn long(tree: Tree<Self>) -> Value;

    /// Whether something may stand behind a key.
    fn follows(mark: &Self::Mark, key: &str) -> bool;

    fn to_rest(parts: Vec<Part<Self>>) -> Parts;

    fn of_rest(parts: Parts) -> Option<Vec<Part<Self>>>;
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

    fn to_rest(parts: Vec<Part<Self>>) -> Parts {
        Parts::Items(parts)
    }

    fn of_rest(parts: Parts) -> Option<Vec<Part<Self>>> {
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

    fn to_rest(parts: Vec<Part<Self>>) -> Parts {
        Parts::Members(parts)
    }

    fn of_rest(parts: Parts) -> Option<Vec<Part<Self>>> {
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

    fn whole(mut self) -> Result<Value, Stop> {
        let value = self.value(0)?;
        self.reader.end()?;
        match value {
            Some(value) => Ok(*value),
            None => Ok(from_json(self.written.as_bytes())?),
        }
    }

    /// Reads a value and writes it down, unless it has parts.
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

    /// Reads a string and writes it down; the answer is the string, if it is written with escapes.
    fn string(&mut self) -> Result<Option<Box<str>>, Stop> {
        self.reader.at += 1;
        let plain = self.reader.plain();
        self.written.push('"');
        if self.reader.peek() == Some(b'"') {
            self.reader.at += 1;
            self.written.push_str(plain);
            self.written.push('"');
            return Ok(None);
        }
        let text = self.reader.string_from(plain)?;
        let mut escaped = Vec::with_capacity(text.len());
        escape_into(text.as_bytes(), &mut escaped);
        self.written.push_str(&String::from_utf8_lossy(&escaped));
        self.written.push('"');
        Ok(Some(text.as_str().into()))
    }

    /// Reads a key and its colon, and writes them down.
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

    /// Reads an array or an object.
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
            behind: self.entries.len(),
            parts: Vec::new(),
            is_ordered: true,
        }
    }

    /// Reads items or members, and the bracket behind them.
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

    /// Reads an item or a member.
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
            let last = self.entries.get(list.behind..).and_then(<[Entry]>::last);
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
        let enough = self.written.len() - list.start >= ENOUGH;
        if enough && list.is_ordered && (self.helpers.is_some() || T::OPEN != Member::OPEN) {
            if self.useless.load(Ordering::Relaxed) {
                return Err(Stop::Disorder);
            }
            self.read_ahead::<T>(depth);
            self.part(list);
        }
        Ok(())
    }

    /// Makes parts of the first entries, and leaves some, of which the last has the highest key.
    fn part<T: Kind>(&mut self, list: &mut List<T>) {
        let mut own = self.entries.split_off(list.behind);
        let mut rest = own.as_mut_slice();
        while rest.len() > WIDTH {
            let (group, behind) = rest.split_at_mut(group(rest));
            list.parts.extend(self.leaf(group));
            rest = behind;
        }
        let begin = list.start + 1;
        let gone = rest.first().map_or(0, |first| first.start - begin);
        self.written.drain(begin..begin + gone);
        let moved = rest.len();
        for mut entry in own.drain(own.len() - moved..) {
            entry.start -= gone;
            entry.end -= gone;
            self.entries.push(entry);
        }
    }

    /// A list of entries.
    fn leaf<T: Kind>(&self, entries: &mut [Entry]) -> Option<Part<T>> {
        let mark = T::mark_of(entries.first()?.name(&self.written));
        let length: usize = entries.iter().map(Entry::length).sum();
        let leaf = match entries.iter().all(Entry::is_text) && length <= LONG {
            true => Chunk::unread(&self.text(entries), entries.len()),
            false => self.read(entries).into(),
        };
        Some(Part::of_leaf(mark, leaf))
    }

    /// The text of entries, with commas between them.
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

    /// All parts of a list, those of its last entries among them.
    fn parts<T: Kind>(&mut self, list: &mut List<T>) -> Vec<Part<T>> {
        let mut own = self.entries.split_off(list.behind);
        let mut rest = own.as_mut_slice();
        while !rest.is_empty() {
            let (group, behind) = rest.split_at_mut(group(rest));
            list.parts.extend(self.leaf(group));
            rest = behind;
        }
        mem::take(&mut list.parts)
    }

    /// Ends an array or an object.
    fn close<T: Kind>(&mut self, mut list: List<T>) -> Option<Box<Value>> {
        if !list.is_ordered {
            self.order(&list);
        }
        let own = self.entries.get(list.behind..).unwrap_or_default();
        let is_text = list.parts.is_empty() && own.iter().all(Entry::is_text);
        let length: usize = own.iter().map(Entry::length).sum();
        if is_text && length < SHORT {
            if !list.is_ordered {
                self.rewrite(&list);
            }
            self.written.push(T::CLOSE);
            self.entries.truncate(list.behind);
            return None;
        }
        if !list.is_ordered {
            self.arrange(&list);
        }
        let own = self.entries.get(list.behind..).unwrap_or_default();
        let value = if list.parts.is_empty() && length < SHORT && own.len() <= WIDTH {
            let mut own = self.entries.split_off(list.behind);
            T::short(self.read(&mut own), &mut self.shapes)
        } else {
            T::long(Tree::of_parts(self.parts(&mut list)))
        };
        self.written.truncate(list.start);
        Some(Box::new(value))
    }

    /// Finds the order of members; of those with the same key the last one stays. Most objects
    /// have the keys of the one before, in the same places.
    fn order<T: Kind>(&mut self, list: &List<T>) {
        let own = self.entries.get(list.behind..).unwrap_or_default();
        let written = self.written.as_str();
        let name = |at: &usize| own.get(*at).map(|entry| entry.name(written));
        let follows = |left: &usize, right: &usize| match (name(left), name(right)) {
            (Some(left), Some(right)) => left < right,
            _ => false,
        };
        if self.order.len() == own.len() && self.order.is_sorted_by(follows) {
            return;
        }
        self.order.clear();
        self.order.extend(0..own.len());
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
        let own = self.entries.get(list.behind..).unwrap_or_default();
        for entry in self.order.iter().filter_map(|at| own.get(*at)) {
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

    /// Puts members in their order.
    fn arrange<T: Kind>(&mut self, list: &List<T>) {
        let own = self.entries.drain(list.behind..);
        let mut own: Vec<Option<Entry>> = own.map(Some).collect();
        let ordered = self.order.iter().filter_map(|at| own.get_mut(*at)?.take());
        self.entries.extend(ordered);
    }
}

/// How many of the first entries become one list: they are all text, and not too long, or all have
/// parts of their own.
fn group(entries: &[Entry]) -> usize {
    let mut length = 0;
    let is_text = entries.first().is_some_and(Entry::is_text);
    let fits = |entry: &&Entry| {
        length += entry.length();
        entry.is_text() == is_text && length <= LONG
    };
    let count = entries.iter().take(FILLED).take_while(fits).count();
    count.max(1).min(entries.len())
}

impl Entry {
    /// The key of a member.
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

    /// The length of its text and of a comma, 0 if there is none.
    fn length(&self) -> usize {
        match self.is_text() {
            true => self.end - self.start + 1,
            false => 0,
        }
    }
}
