//! Indexes of long lists: positions of the items whose member at a path has a certain value.
//!
//! A list stores its index next to its items, so that both are dropped together. A change to the
//! list affects an unindexed copy, or clears the index first. An index stores only hashes: items
//! that it finds may have the member, and all other items do not have it.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use super::Value;

/// Maximum number of indexes of a list, each for a different member of the items.
const PATHS: usize = 4;

/// Maximum number of bytes of all indexes of all lists together.
const MAX_INDEX_BYTES: usize = 256 << 20;

/// Maximum average number of entries per bucket, which fills two cache lines; the minimum is half
/// of it. A bucket has the entries whose hashes have the same first bits.
const BUCKET_SIZE: usize = 16;

/// Number of searches of a list for the same member after which an index is built.
const SEARCHES_BEFORE_INDEX: u32 = 2;

/// Number of bytes of all indexes of all lists.
static INDEX_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Indexes of one list. A clone has none, because it is about to be changed.
#[derive(Default)]
pub(crate) struct Lookups(OnceLock<Box<[Lookup; PATHS]>>);

/// Index by one member.
#[derive(Default)]
pub(crate) struct Lookup {
    /// Steps from an item to the member; empty for the item itself.
    path: OnceLock<Box<[Value]>>,
    /// Number of searches for the member.
    searches: AtomicU32,
    /// Whether a thread builds the index.
    is_being_made: AtomicBool,
    /// The index, once it is built; `None` if there was no memory left for it.
    places: OnceLock<Option<HashIndex>>,
}

/// Sorted hashes of members with the positions of their items.
struct HashIndex {
    state: RandomState,
    entries: Box<[Entry]>,
    /// Start of each bucket in the sorted entries, and the end of the last bucket, so that a search
    /// starts in the right cache lines.
    starts: Box<[u32]>,
    /// Shift that reduces a hash to its first bits.
    shift: u32,
    _budget: IndexBudget,
}

/// Hash of a member, and the position of an item that has it.
pub(crate) type Entry = (u32, u32);

/// Reserved bytes out of [`MAX_INDEX_BYTES`].
struct IndexBudget(usize);

/// Result of a lookup.
pub(crate) enum Known<'l> {
    /// Only the items at these positions can have the member, in ascending order.
    At(&'l [Entry]),
    /// There is no index yet, but building this one pays.
    Unindexed(&'l Lookup),
    /// There is no index, and none should be built.
    Nothing,
}

impl Clone for Lookups {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Lookups {
    /// Clears all indexes, before the list is changed.
    pub(super) fn clear(&mut self) {
        self.0.take();
    }

    /// Looks up the items whose member at a path is equal to a value. `searches_before_index`
    /// returns the number of searches after which it pays to build an index, if that is permitted.
    pub(crate) fn known<'k>(
        &self,
        path: impl Iterator<Item = &'k Value> + Clone,
        value: &Value,
        searches_before_index: impl FnOnce() -> Option<u32>,
    ) -> Known<'_> {
        for lookup in self.0.get_or_init(Box::default).iter() {
            let indexed_path = lookup.path.get_or_init(|| path.clone().cloned().collect());
            if indexed_path.iter().eq(path.clone()) {
                return lookup.known(value, searches_before_index);
            }
        }
        Known::Nothing
    }
}

impl Lookup {
    fn known(
        &self,
        value: &Value,
        searches_before_index: impl FnOnce() -> Option<u32>,
    ) -> Known<'_> {
        match self.places.get() {
            Some(Some(places)) => Known::At(places.of(value)),
            Some(None) => Known::Nothing,
            None => match searches_before_index() {
                Some(searches_before_index)
                    if self.searches.fetch_add(1, Ordering::Relaxed) + 1
                        >= searches_before_index =>
                {
                    Known::Unindexed(self)
                }
                _ => Known::Nothing,
            },
        }
    }

    /// Builds the index over all items of an array or values of an object, unless another thread
    /// does. `before_item` is called before each item.
    ///
    /// # Errors
    /// The error that `before_item` returns.
    pub(crate) fn make<E>(
        &self,
        list: &Value,
        member: impl for<'v> Fn(&'v Value, &Value) -> Option<&'v Value>,
        mut before_item: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_being_made.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let length = list.length();
        let Some(budget) = IndexBudget::of(length) else {
            let _already = self.places.set(None);
            return Ok(());
        };
        let state = RandomState::new();
        let path = self.path.get().map(AsRef::as_ref).unwrap_or_default();
        let mut entries = Vec::with_capacity(length);
        let mut place = 0;
        let all = list.each(|item| {
            before_item()?;
            let mut found = Some(item);
            for step in path {
                found = found.and_then(|found| member(found, step));
            }
            entries.extend(found.map(|found| (hash(&state, found), place)));
            place += 1;
            Ok(())
        });
        if let Err(why) = all {
            self.is_being_made.store(false, Ordering::Relaxed);
            return Err(why);
        }
        let _already = self
            .places
            .set(Some(HashIndex::new(state, entries, budget)));
        Ok(())
    }
}

impl HashIndex {
    fn new(state: RandomState, mut entries: Vec<Entry>, budget: IndexBudget) -> Self {
        entries.sort_unstable();
        let parts = parts(entries.len());
        let shift = u32::BITS - parts.ilog2();
        let mut starts = Vec::with_capacity(parts + 1);
        let mut at = 0;
        for (hash, _) in &entries {
            let part = part(*hash, shift);
            while starts.len() <= part {
                starts.push(at);
            }
            at += 1;
        }
        starts.resize(parts + 1, at);
        Self {
            state,
            entries: entries.into_boxed_slice(),
            starts: starts.into_boxed_slice(),
            shift,
            _budget: budget,
        }
    }

    /// Returns the entries of items whose member may have this value.
    fn of(&self, value: &Value) -> &[Entry] {
        let target = hash(&self.state, value);
        let part = part(target, self.shift);
        let [start, end] = [part, part + 1].map(|at| self.starts.get(at).copied());
        let near = (start.zip(end))
            .and_then(|(start, end)| self.entries.get(start as usize..end as usize));
        let near = near.unwrap_or_default();
        let first = near.partition_point(|(hash, _)| *hash < target);
        let found = near.get(first..).unwrap_or_default();
        let count = found.partition_point(|(hash, _)| *hash == target);
        found.get(..count).unwrap_or_default()
    }
}

/// Returns the number of buckets for a number of entries.
fn parts(entries: usize) -> usize {
    (entries / BUCKET_SIZE).max(1).next_power_of_two()
}

/// Returns the bucket of a hash: its first bits.
fn part(hash: u32, shift: u32) -> usize {
    hash.checked_shr(shift).unwrap_or_default() as usize
}

impl IndexBudget {
    /// Reserves memory for this number of entries, if enough is left.
    fn of(entries: usize) -> Option<Self> {
        u32::try_from(entries).ok()?;
        let starts = parts(entries)
            .checked_add(1)?
            .checked_mul(size_of::<u32>())?;
        let bytes = entries
            .checked_mul(size_of::<Entry>())?
            .checked_add(starts)?;
        let more = |taken: usize| {
            taken
                .checked_add(bytes)
                .filter(|all| *all <= MAX_INDEX_BYTES)
        };
        let taken = INDEX_BYTES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| Self(bytes))
    }
}

impl Drop for IndexBudget {
    fn drop(&mut self) {
        INDEX_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Hashes a value; equal values have equal hashes. All collections have the same hash, because few
/// are searched for.
fn hash(state: &RandomState, value: &Value) -> u32 {
    let hash = match value {
        Value::Null => 0,
        Value::Bool(value) => 1 + u64::from(*value),
        // Equal numbers have the same nearest float, except for the sign of zero.
        Value::Number(number) => state.hash_one((number.as_f64() + 0.0).to_bits()),
        Value::String(text) => state.hash_one(text.as_str()),
        Value::Bytes(bytes) => state.hash_one(bytes.as_bytes()),
        Value::Array(_) | Value::Object(_) | Value::Set(_) => 3,
    };
    (hash ^ (hash >> 32)) as u32
}

impl Value {
    /// Returns the indexes of the items of an array or the values of an object, if there are many.
    pub(crate) fn lookups(&self) -> Option<&Lookups> {
        match self {
            Self::Array(items) => items.lookups(),
            Self::Object(members) => members.lookups(),
            _ => None,
        }
    }

    /// Returns the number of searches for the same member after which it pays to build an index. If
    /// a search would have to parse the items, building the index at once costs no more, and the
    /// text can remain unparsed.
    pub(crate) fn searches_before_index(&self) -> u32 {
        let is_lazy = match self {
            Self::Array(items) => items.is_lazy(),
            Self::Object(members) => members.is_lazy(),
            _ => false,
        };
        if is_lazy { 1 } else { SEARCHES_BEFORE_INDEX }
    }

    /// Returns the number of items of an array, or of members of an object.
    fn length(&self) -> usize {
        match self {
            Self::Array(items) => items.len(),
            Self::Object(members) => members.len(),
            _ => 0,
        }
    }

    /// Visits the items of an array or the values of an object. Text remains unparsed.
    fn each<E>(&self, mut take: impl FnMut(&Value) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Array(items) => {
                let mut runs = items.runs(0);
                runs.try_for_each(|(run, _)| run.items().iter().try_for_each(&mut take))
            }
            Self::Object(members) => match members.runs(0) {
                Some(mut runs) => runs.try_for_each(|(run, _)| {
                    let items = run.items();
                    items.iter().try_for_each(|(_, value)| take(value))
                }),
                None => members.values().try_for_each(take),
            },
            _ => Ok(()),
        }
    }
}
