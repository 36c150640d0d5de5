//! Measurement of the JSON text of values, without encoding them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::item::Item;
use super::object::Member;
use super::tree::{Run, Runs};
use super::write::{Writer, distinct_members};
use super::{Object, TooLong, Value};
use crate::hash::HashMap;

/// Number of values between checks for cancellation.
const CHECK_INTERVAL: u32 = 1 << 12;

/// Size of a value as JSON and in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueSize {
    /// Length of the text in bytes.
    pub length: usize,
    /// Approximate number of bytes of memory that the value does not share with other values, and
    /// that are freed when it is dropped.
    pub own: usize,
    /// Whether objects have members that are not written, because later ones have the same name.
    pub hides: bool,
}

/// Reason why a value was not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotMeasured {
    /// The text of the value would be longer than the limit.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The measurement was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl Value {
    /// Measures the text that [`Value::to_json`] writes, in time proportional to the memory of the
    /// value and not to the length of the text: shared parts are measured once.
    ///
    /// # Errors
    /// If the text is longer than `limit` bytes, or `cancelled` became true.
    pub fn measure(
        &self,
        pretty: bool,
        limit: usize,
        cancelled: &AtomicBool,
    ) -> Result<ValueSize, NotMeasured> {
        let mut ruler = SizeWriter {
            pretty,
            limit,
            cancelled,
            known: HashMap::default(),
            steps: 0,
            own: 0,
            hides: false,
        };
        let extent = ruler.value(self, true)?;
        if extent.length > limit {
            return Err(TooLong(limit).into());
        }
        Ok(ValueSize {
            length: extent.length,
            own: ruler.own,
            hides: ruler.hides,
        })
    }
}

/// Item of a list, whose length as JSON can be computed.
trait Extended: Item {
    /// Returns the size of its text, and the number of bytes that precede it.
    fn extent(&self, ruler: &mut SizeWriter<'_>, own: bool)
    -> Result<(Extent, usize), NotMeasured>;
}

impl Extended for Value {
    fn extent(
        &self,
        ruler: &mut SizeWriter<'_>,
        own: bool,
    ) -> Result<(Extent, usize), NotMeasured> {
        Ok((ruler.value(self, own)?, 0))
    }
}

impl Extended for Member {
    fn extent(
        &self,
        ruler: &mut SizeWriter<'_>,
        own: bool,
    ) -> Result<(Extent, usize), NotMeasured> {
        ruler.member(&self.0, &self.1, own)
    }
}

/// Size of a text, with the number of its line breaks: each line but the first is indented.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    length: usize,
    breaks: usize,
}

struct SizeWriter<'c> {
    pretty: bool,
    limit: usize,
    cancelled: &'c AtomicBool,
    /// Sizes of shared parts, by their address.
    known: HashMap<usize, Extent>,
    steps: u32,
    own: usize,
    hides: bool,
}

impl SizeWriter<'_> {
    /// Measures a value as if at the outermost level. `own`: whether no ancestor of it is shared.
    fn value(&mut self, value: &Value, own: bool) -> Result<Extent, NotMeasured> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(CHECK_INTERVAL) && self.cancelled.load(Ordering::Relaxed) {
            return Err(NotMeasured::Cancelled);
        }
        let length = match value {
            Value::Null | Value::Bool(true) => 4,
            Value::Bool(false) => 5,
            Value::Number(number) => number.text().len(),
            Value::String(text) => {
                if own && text.is_heap_allocated() {
                    self.own = self.own.saturating_add(text.len());
                }
                string(text)
            }
            Value::Bytes(bytes) => {
                if own {
                    self.own = self.own.saturating_add(bytes.as_bytes().len());
                }
                string(&bytes.to_lossy())
            }
            Value::Array(_) | Value::Object(_) | Value::Set(_) => {
                return stacker::maybe_grow(64 << 10, 1 << 20, || self.parts(value, own));
            }
        };
        Ok(Extent { length, breaks: 0 })
    }

    /// Measures an array, an object or a set.
    fn parts(&mut self, value: &Value, own: bool) -> Result<Extent, NotMeasured> {
        let (shared, address) = match value {
            Value::Array(items) => (items.is_shared(), items.address()),
            Value::Object(members) => (members.is_shared(), members.address()),
            Value::Set(members) => (Arc::strong_count(members) > 1, Arc::as_ptr(members).addr()),
            _ => (false, 0),
        };
        if let Some(known) = self.known.get(&address).filter(|_| shared) {
            return Ok(*known);
        }
        let own = own && !shared;
        let extent = match value {
            Value::Array(items) => self.runs(items.runs(0), items.len(), own),
            Value::Set(members) => self.items(members.iter(), own),
            Value::Object(members) => self.object(members, own),
            _ => Ok(Extent::default()),
        }?;
        if shared {
            self.known.insert(address, extent);
        }
        Ok(extent)
    }

    /// Measures an object in its output form.
    fn object(&mut self, members: &Object, own: bool) -> Result<Extent, NotMeasured> {
        let written = distinct_members(members, self.limit)?;
        self.hides |= written.is_some();
        let members = written.as_ref().unwrap_or(members);
        match members.runs(0) {
            Some(runs) => self.runs(runs, members.len(), own),
            None => self.members(members, own),
        }
    }

    /// Measures the contents of lists.
    fn runs<T: Extended>(
        &mut self,
        runs: Runs<'_, T>,
        count: usize,
        own: bool,
    ) -> Result<Extent, NotMeasured> {
        let mut whole = Extent::default();
        let mut texts = 0;
        for (run, _) in runs {
            if let Run::Text(text, length) = &run {
                texts += length;
                if own {
                    self.own = self.own.saturating_add(text.len());
                }
                if !self.pretty {
                    // The commas are counted with the brackets.
                    let length = text.len() - length.saturating_sub(1);
                    let extent = Extent { length, breaks: 0 };
                    self.add(&mut whole, extent, 0)?;
                    continue;
                }
            }
            let own = own && matches!(run, Run::Items(_));
            for item in run.items().iter() {
                let (extent, before) = item.extent(self, own)?;
                self.add(&mut whole, extent, before)?;
            }
        }
        let items = own.then(|| (count - texts) * size_of::<T>());
        self.own = self.own.saturating_add(items.unwrap_or_default());
        self.bracket(whole, count, None)
    }

    fn items<'v>(
        &mut self,
        items: impl ExactSizeIterator<Item = &'v Value>,
        own: bool,
    ) -> Result<Extent, NotMeasured> {
        let count = items.len();
        let mut whole = Extent::default();
        for item in items {
            let extent = self.value(item, own)?;
            self.add(&mut whole, extent, 0)?;
        }
        self.bracket(whole, count, own.then_some(size_of::<Value>()))
    }

    fn members(&mut self, members: &Object, own: bool) -> Result<Extent, NotMeasured> {
        let mut whole = Extent::default();
        for (key, member) in members {
            let (extent, before) = self.member(key, member, own)?;
            self.add(&mut whole, extent, before)?;
        }
        self.bracket(whole, members.len(), own.then_some(2 * size_of::<Value>()))
    }

    /// Measures a value, and the name of its member with the colon.
    fn member(
        &mut self,
        key: &Value,
        value: &Value,
        own: bool,
    ) -> Result<(Extent, usize), NotMeasured> {
        let colon = if self.pretty { 2 } else { 1 };
        let name = match key {
            Value::String(name) => string(name),
            key => {
                let name = Writer::new(self.limit);
                string(&name.name(key)?)
            }
        };
        Ok((self.value(value, own)?, name.saturating_add(colon)))
    }

    /// Adds the size of a part, and of the `before` bytes that precede it, to the whole.
    fn add(&self, whole: &mut Extent, part: Extent, before: usize) -> Result<(), NotMeasured> {
        let length = part.length.saturating_add(before);
        whole.length = whole.length.saturating_add(length);
        whole.breaks = whole.breaks.saturating_add(part.breaks);
        match whole.length > self.limit {
            true => Err(TooLong(self.limit).into()),
            false => Ok(()),
        }
    }

    /// Returns the size of `count` parts with the brackets around them.
    fn bracket(
        &mut self,
        inner: Extent,
        count: usize,
        own: Option<usize>,
    ) -> Result<Extent, NotMeasured> {
        let taken = own.map_or(0, |size| size.saturating_mul(count));
        self.own = self.own.saturating_add(taken);
        // Brackets, and commas between the parts.
        let mut whole = Extent {
            length: 2 + count.saturating_sub(1),
            breaks: 0,
        };
        if self.pretty && count > 0 {
            // Each part begins a line at the inner level, and the closing bracket one at the outer.
            let indented = inner.breaks.saturating_add(count);
            whole.breaks = indented.saturating_add(1);
            let indentation = indented.saturating_mul(2);
            whole.length = whole.length.saturating_add(count + 1);
            whole.length = whole.length.saturating_add(indentation);
        }
        whole.length = whole.length.saturating_add(inner.length);
        match whole.length > self.limit {
            true => Err(TooLong(self.limit).into()),
            false => Ok(whole),
        }
    }
}

/// Returns the length of a string with its quotes.
fn string(text: &str) -> usize {
    let more = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
        0..=0x1f => 5,
        _ => 0,
    });
    text.len() + 2 + more.sum::<usize>()
}
