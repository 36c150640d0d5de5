//! Index of long lists: positions of the items that have a certain member.
//!
//! A list keeps what is known of it beside its items, so that it is gone when the list is: whoever
//! changes the list changes another one, or takes this off first. Only hashes are kept, so what is
//! found may have the member, and everything else has not.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use super::Value;

/// A list is looked up by at most so many different members.
const PATHS: usize = 4;

/// The bytes that all lookups of all lists may take together.
const MOST_BYTES: usize = 256 << 20;

/// At most so many entries have the same first bits of their hashes in the middle of all parts, and
/// at least half as many: two lines of memory.
const TOGETHER: usize = 16;

/// A lookup is made when a list is searched for the same member as often as this.
const PAYS: u32 = 2;

/// The bytes that all lookups take.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The lookups of one list. A clone has none, because it is about to be changed.
#[derive(Default)]
pub(crate) struct Lookups(OnceLock<Box<[Lookup; PATHS]>>);

/// The lookup by one member.
#[derive(Default)]
pub(crate) struct Lookup {
    /// The steps from an item to the member; none for the item itself.
    path: OnceLock<Box<[Value]>>,
    /// How often it was searched for.
    searches: AtomicU32,
    /// Whether somebody makes the places.
    is_being_made: AtomicBool,
    /// The places; none if there was no room for them.
    places: OnceLock<Option<Places>>,
}

/// The hashes of members with the places of their items, in their order.
struct Places {
    state: RandomState,
    entries: Box<[Entry]>,
    /// Where the entries begin whose hashes have the same first bits, and where the last ones end:
    /// who seeks one goes from here to the line of memory that it is in.
    starts: Box<[u32]>,
    /// By how many bits a hash is shifted to leave its first bits.
    shift: u32,
    _room: IndexBudget,
}

/// The hash of a member, and the place of an item that has it.
pub(crate) type Entry = (u32, u32);

/// Bytes out of [`MOST_BYTES`].
struct IndexBudget(usize);

/// What a lookup has to say.
pub(crate) enum Known<'l> {
    /// Only the items at these places can have the member, in their order.
    At(&'l [Entry]),
    /// Nothing yet, but it pays to make it.
    Cancellation(&'l Lookup),
    /// Nothing.
    Nothing,
}

impl Clone for Lookups {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Lookups {
    /// Forgets everything, before the list is changed.
    pub(super) fn clear(&mut self) {
        self.0.take();
    }

    /// What is known of the items whose member at a path is equal to a value. It pays to make the
    /// lookup after so many searches, if it may be made.
    pub(crate) fn known<'k>(
        &self,
        path: impl Iterator<Item = &'k Value> + Clone,
        sought: &Value,
        pays: impl FnOnce() -> Option<u32>,
    ) -> Known<'_> {
        for lookup in self.0.get_or_init(Box::default).iter() {
            let own = lookup.path.get_or_init(|| path.clone().cloned().collect());
            if own.iter().eq(path.clone()) {
                return lookup.known(sought, pays);
            }
        }
        Known::Nothing
    }
}

impl Lookup {
    fn known(&self, sought: &Value, pays: impl FnOnce() -> Option<u32>) -> Known<'_> {
        match self.places.get() {
            Some(Some(places)) => Known::At(places.of(sought)),
            Some(None) => Known::Nothing,
            None => match pays() {
                Some(pays) if self.searches.fetch_add(1, Ordering::Relaxed) + 1 >= pays => {
                    Known::Cancellation(self)
                }
                _ => Known::Nothing,
            },
        }
    }

    /// Makes the places of the members of all items of an array or values of an object, unless
    /// somebody else does so. `go_on` is asked before each item.
    ///
    /// # Errors
    /// What `go_on` fails with.
    pub(crate) fn make<E>(
        &self,
        list: &Value,
        member: impl for<'v> Fn(&'v Value, &Value) -> Option<&'v Value>,
        mut go_on: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_being_made.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let length = list.length();
        let Some(room) = IndexBudget::of(length) else {
            let _already = self.places.set(None);
            return Ok(());
        };
        let state = RandomState::new();
        let path = self.path.get().map(AsRef::as_ref).unwrap_or_default();
        let mut entries = Vec::with_capacity(length);
        let mut place = 0;
        let all = list.each(|item| {
            go_on()?;
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
        let _already = self.places.set(Some(Places::new(state, entries, room)));
        Ok(())
    }
}

impl Places {
    fn new(state: RandomState, mut entries: Vec<Entry>, room: IndexBudget) -> Self {
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
            _room: room,
        }
    }

    /// Where items may be that have a value.
    fn of(&self, sought: &Value) -> &[Entry] {
        let sought = hash(&self.state, sought);
        let part = part(sought, self.shift);
        let [start, end] = [part, part + 1].map(|at| self.starts.get(at).copied());
        let near = (start.zip(end))
            .and_then(|(start, end)| self.entries.get(start as usize..end as usize));
        let near = near.unwrap_or_default();
        let first = near.partition_point(|(hash, _)| *hash < sought);
        let found = near.get(first..).unwrap_or_default();
        let count = found.partition_point(|(hash, _)| *hash == sought);
        found.get(..count).unwrap_or_default()
    }
}

/// In how many parts so many entries are by the first bits of their hashes.
fn parts(entries: usize) -> usize {
    (entries / TOGETHER).max(1).next_power_of_two()
}

/// The part of a hash: its first bits.
fn part(hash: u32, shift: u32) -> usize {
    hash.checked_shr(shift).unwrap_or_default() as usize
}

impl IndexBudget {
    /// Room for so many entries, if there is some.
    fn of(entries: usize) -> Option<Self> {
        u32::try_from(entries).ok()?;
        let starts = parts(entries)
            .checked_add(1)?
            .checked_mul(size_of::<u32>())?;
        let bytes = entries
            .checked_mul(size_of::<Entry>())?
            .checked_add(starts)?;
        let more = |taken: usize| taken.checked_add(bytes).filter(|all| *all <= MOST_BYTES);
        let taken = TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| Self(bytes))
    }
}

impl Drop for IndexBudget {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// The same for equal values. It is the same for all that have parts, too, which are seldom sought.
fn hash(state: &RandomState, value: &Value) -> u32 {
    let hash = match value {
        Value::Null => 0,
        Value::Bool(value) => 1 + u64::from(*value),
        // Equal numbers are nearest to the same float, where zero has no sign.
        Value::Number(number) => state.hash_one((number.as_f64() + 0.0).to_bits()),
        Value::String(text) => state.hash_one(text.as_str()),
        Value::Bytes(bytes) => state.hash_one(bytes.as_bytes()),
        Value::Array(_) | Value::Object(_) | Value::Set(_) => 3,
    };
    (hash ^ (hash >> 32)) as u32
}

impl Value {
    /// The lookups of the items of an array or the values of an object, if there are many.
    pub(crate) fn lookups(&self) -> Option<&Lookups> {
        match self {
            Self::Array(items) => items.lookups(),
            Self::Object(members) => members.lookups(),
            _ => None,
        }
    }

    /// After how many searches for the same member it pays to make a lookup. Where the items would
    /// have to be read from their text for a search, it takes no more to make the lookup, and the
    /// text can stay.
    pub(crate) fn pays(&self) -> u32 {
        let is_lazy = match self {
            Self::Array(items) => items.is_lazy(),
            Self::Object(members) => members.is_lazy(),
            _ => false,
        };
        if is_lazy { 1 } else { PAYS }
    }

    /// The number of items of an array, or of members of an object.
    fn length(&self) -> usize {
        match self {
            Self::Array(items) => items.len(),
            Self::Object(members) => members.len(),
            _ => 0,
        }
    }

    /// Hands over the items of an array or the values of an object. What is text stays so.
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
