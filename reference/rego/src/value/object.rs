//! Objects and sets.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::iter::Zip;
use std::slice;

use triomphe::{Arc, ThinArc};

use super::item::Item;
use super::json::read_members;
use super::list_index::Lookups;
use super::tree::{self, Run, Runs, SearchPosition, Subtree, Tree, WIDTH};
use super::{Text, Value};

/// An object, with its members in the order of their keys. Documents have only strings as keys;
/// policies create objects with any keys.
///
/// A clone shares the members: a change to one of a million members copies only a few hundred.
#[derive(Clone)]
pub struct Object(Members);

/// A set, with its members in the order of values.
pub type Set = BTreeSet<Value>;

/// Returns the set of the values; of equal numbers with different texts, the first is retained.
pub(crate) fn distinct(mut members: Vec<Value>) -> Set {
    members.sort();
    members.dedup();
    members.into_iter().collect()
}

pub(super) type Member = (Value, Value);

#[derive(Clone)]
enum Members {
    /// Values of a parsed object, in one allocation with a pointer to its list of keys, which other
    /// objects of the same document share.
    Packed(ThinArc<Keys, Value>),
    /// Members of all other objects.
    Tree(Arc<Tree<Member>>),
}

/// A short sorted list of keys.
type Keys = ThinArc<(), Value>;

impl Item for Member {
    type Mark = Value;

    fn mark(&self) -> Value {
        self.0.clone()
    }

    /// Replaces the value of the member, and retains its original key.
    fn replace(&mut self, by: Self) -> Self {
        (by.0, std::mem::replace(&mut self.1, by.1))
    }

    fn read(text: &str) -> Vec<Self> {
        read_members(text)
    }
}

/// Position of the key for which this comparison returns `Equal`.
struct By<F>(F);

impl<F: Fn(&Value) -> Ordering> SearchPosition<Member> for By<F> {
    fn part(&mut self, parts: &[Subtree<Member>]) -> usize {
        let reached = |part: &Subtree<Member>| self.0(&part.mark) != Ordering::Greater;
        parts.partition_point(reached).saturating_sub(1)
    }

    fn item(&mut self, members: &[Member]) -> Result<usize, usize> {
        members.binary_search_by(|(key, _)| self.0(key))
    }
}

/// Position of the member with this name in an object.
struct Named<'n>(&'n str);

/// Maximum number of members up to which a linear search is faster than a binary search.
const LINEAR_SEARCH_LIMIT: usize = 8;

/// Returns the index of the member with this name, or else where it would be inserted.
fn place_of<T>(name: &str, members: &[T], key: impl Fn(&T) -> &Value) -> Result<usize, usize> {
    if members.len() <= LINEAR_SEARCH_LIMIT
        && let Some(at) = members
            .iter()
            .position(|one| key(one).as_str() == Some(name))
    {
        return Ok(at);
    }
    members.binary_search_by(|one| key(one).compare_text(name))
}

/// Cached position of the member in the last of several objects, most of which share their list of
/// keys. INVARIANT: all these objects live while the cache is used, so that no other list of keys
/// is allocated at the same address.
#[derive(Debug, Default)]
pub(crate) struct MemberPlace(Cell<(usize, usize)>);

impl MemberPlace {
    /// Returns the member of a value with a name.
    #[inline]
    pub(crate) fn member<'v>(&self, value: &'v Value, name: &Value) -> Option<&'v Value> {
        match (value, name) {
            (Value::Object(Object(Members::Packed(members))), Value::String(name)) => {
                let keys = &members.header.header;
                let (address, mut at) = self.0.get();
                if address != keys.as_ptr().addr() {
                    at = place_of(name, &keys.slice, |key| key).unwrap_or(usize::MAX);
                    self.0.set((keys.as_ptr().addr(), at));
                }
                members.slice.get(at)
            }
            (Value::Object(members), name) => members.get_value(name),
            (Value::Set(members), name) => members.get(name),
            _ => None,
        }
    }
}

impl SearchPosition<Member> for Named<'_> {
    fn part(&mut self, parts: &[Subtree<Member>]) -> usize {
        By(|key: &Value| key.compare_text(self.0)).part(parts)
    }

    fn item(&mut self, members: &[Member]) -> Result<usize, usize> {
        place_of(self.0, members, |(key, _)| key)
    }
}

/// Key lists that are shared by objects of one document.
#[derive(Default)]
pub(super) struct Shapes(Vec<Keys>);

/// Maximum number of shared key lists.
const MAX_SHAPES: usize = 1024;

impl Shapes {
    /// Creates an object of the members after the first `start`, which it removes from the list.
    pub(super) fn object(&mut self, members: &mut Vec<Member>, start: usize) -> Object {
        let added = members.get_mut(start..).unwrap_or_default();
        if !is_ordered(added, Ordering::is_le) {
            added.sort_by(|(left, _), (right, _)| left.cmp(right));
        }
        if !is_ordered(added, Ordering::is_lt) {
            return Object::of_members(members.split_off(start));
        }
        let keys = if added.len() <= WIDTH {
            self.keys(added)
        } else {
            None
        };
        let members = members.drain(start..);
        Object(match keys {
            Some(keys) => {
                let values = members.map(|(_, value)| value);
                Members::Packed(ThinArc::from_header_and_iter(keys, values))
            }
            None => Members::Tree(Arc::new(Tree::of_items(members))),
        })
    }

    /// Returns the shared list of the members' keys, if it can be shared.
    fn keys(&mut self, members: &[Member]) -> Option<Keys> {
        let place = self.0.binary_search_by(|known| {
            let known = &known.slice;
            let lengths = known.len().cmp(&members.len());
            lengths.then_with(|| known.iter().cmp(members.iter().map(|(key, _)| key)))
        });
        match place {
            Ok(at) => self.0.get(at).cloned(),
            Err(at) if self.0.len() < MAX_SHAPES => {
                let keys = members.iter().map(|(key, _)| key.clone());
                let keys = ThinArc::from_header_and_iter((), keys);
                self.0.insert(at, keys.clone());
                Some(keys)
            }
            Err(_) => None,
        }
    }
}

fn is_ordered(members: &[Member], holds: fn(Ordering) -> bool) -> bool {
    members.is_sorted_by(|(left, _), (right, _)| holds(left.cmp(right)))
}

impl Object {
    /// Creates an object without members.
    pub fn new() -> Self {
        Self(Members::Tree(Arc::new(Tree::default())))
    }

    /// Creates an object of members in any order. Of members with the same key the last one counts.
    pub fn of_members(mut members: Vec<(Value, Value)>) -> Self {
        if !is_ordered(&members, Ordering::is_lt) {
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            members.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(&mut later.1, &mut earlier.1);
                }
                same
            });
        }
        Self(Members::Tree(Arc::new(Tree::of_items(members.into_iter()))))
    }

    pub(super) fn of_tree(members: Tree<Member>) -> Self {
        Self(Members::Tree(Arc::new(members)))
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        match &self.0 {
            Members::Packed(members) => members.slice.len(),
            Members::Tree(members) => members.len(),
        }
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the member for whose key this comparison returns `Equal`.
    fn find(&self, order: impl Fn(&Value) -> Ordering) -> Option<(&Value, &Value)> {
        match &self.0 {
            Members::Packed(members) => {
                let keys = &members.header.header.slice;
                let at = keys.binary_search_by(order).ok()?;
                Some((keys.get(at)?, members.slice.get(at)?))
            }
            Members::Tree(members) => members.find(By(order)).map(|(key, value)| (key, value)),
        }
    }

    /// Returns the members as an unshared tree that can be modified.
    fn tree_mut(&mut self) -> &mut Tree<Member> {
        loop {
            match self.0 {
                Members::Tree(ref mut members) => return Arc::make_mut(members),
                Members::Packed(_) => {
                    let members = self.iter().map(|(key, value)| (key.clone(), value.clone()));
                    self.0 = Members::Tree(Arc::new(Tree::of_items(members)));
                }
            }
        }
    }

    /// Returns the member with this name.
    fn find_named(&self, name: &str) -> Option<(&Value, &Value)> {
        match &self.0 {
            Members::Packed(members) => {
                let keys = &members.header.header.slice;
                let at = place_of(name, keys, |key| key).ok()?;
                Some((keys.get(at)?, members.slice.get(at)?))
            }
            Members::Tree(members) => members.find(Named(name)).map(|(key, value)| (key, value)),
        }
    }

    /// Returns the value of the member with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.find_named(name).map(|(_, value)| value)
    }

    /// Returns the value of the member with this name, mutably.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        // Nothing is copied if there is no such member.
        self.get(name)?;
        let found = self.tree_mut().find_mut(Named(name));
        found.map(|(_, value)| value)
    }

    /// Returns the value of the member with this key.
    pub fn get_value(&self, key: &Value) -> Option<&Value> {
        self.get_member(key).map(|(_, value)| value)
    }

    /// Returns the member with this key, and its key as stored: `1` finds `1.0`.
    pub fn get_member(&self, key: &Value) -> Option<(&Value, &Value)> {
        match key {
            Value::String(name) => self.find_named(name),
            key => self.find(|known| known.cmp(key)),
        }
    }

    /// Whether there is a member with this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the value of the member with this key, mutably.
    pub fn get_value_mut(&mut self, key: &Value) -> Option<&mut Value> {
        self.get_value(key)?;
        let found = self.tree_mut().find_mut(By(|known: &Value| known.cmp(key)));
        found.map(|(_, value)| value)
    }

    /// Sets a member; returns its previous value.
    pub fn insert(&mut self, key: impl Into<Value>, value: Value) -> Option<Value> {
        let key = key.into();
        let place = key.clone();
        let before = self
            .tree_mut()
            .insert(By(|known: &Value| known.cmp(&place)), (key, value));
        before.map(|(_, value)| value)
    }

    /// Removes a member; returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.get(name)?;
        self.tree_mut()
            .remove(&mut Named(name))
            .map(|(_, value)| value)
    }

    /// Removes the member with this key; returns its value.
    pub fn remove_value(&mut self, key: &Value) -> Option<Value> {
        self.get_value(key)?;
        let mut place = By(|known: &Value| known.cmp(key));
        self.tree_mut().remove(&mut place).map(|(_, value)| value)
    }

    /// Inserts a member with this key, and the value that `make` returns, if it is missing.
    pub fn insert_if_missing(&mut self, key: impl Into<Value>, make: impl FnOnce() -> Value) {
        let key = key.into();
        if self.get_value(&key).is_none() {
            self.insert(key, make());
        }
    }

    /// Iterates over the members in the order of their keys.
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.0 {
            Members::Packed(members) => {
                let keys = members.header.header.slice.iter();
                Walk::Packed(keys.zip(&members.slice))
            }
            Members::Tree(members) => Walk::Tree(tree::Iter::of_tree(members)),
        })
    }

    /// Returns the runs of members in their stored form, without the first `skipped` members;
    /// `None` if the values are stored separately from the keys.
    pub(super) fn runs(&self, skipped: usize) -> Option<Runs<'_, Member>> {
        match &self.0 {
            Members::Packed(_) => None,
            Members::Tree(members) => Some(Runs::of_tree(members, skipped)),
        }
    }

    /// Whether a predicate is true for all keys. Keys in unparsed text are strings, for which it is
    /// called with an empty string.
    pub(super) fn all_keys(&self, holds: impl Fn(&Value) -> bool) -> bool {
        static STRING: Value = Value::String(Text::new_static(""));
        match &self.0 {
            Members::Packed(members) => members.header.header.slice.iter().all(holds),
            Members::Tree(members) => Runs::of_tree(members, 0).all(|(run, _)| match run {
                Run::Items(members) => members.iter().all(|(key, _)| holds(key)),
                Run::Text(..) => holds(&STRING),
            }),
        }
    }

    /// Iterates over the keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Value> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Iterates over the values in the order of their keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the member at an index.
    pub(crate) fn nth(&self, before: usize) -> Option<(&Value, &Value)> {
        match &self.0 {
            Members::Packed(_) => self.iter().nth(before),
            Members::Tree(members) => members.nth(before).map(|(key, value)| (key, value)),
        }
    }

    /// Returns the indexes that find members by the members of their values, if there are many.
    pub(super) fn lookups(&self) -> Option<&Lookups> {
        match &self.0 {
            Members::Packed(_) => None,
            Members::Tree(members) => members.lookups(),
        }
    }

    /// Whether some members are not parsed yet.
    pub(super) fn is_lazy(&self) -> bool {
        match &self.0 {
            Members::Packed(_) => false,
            Members::Tree(members) => members.is_lazy(),
        }
    }

    /// Iterates over the values in the order of their keys, mutably.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Iterates over the members in the order of their keys, with mutable values.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        IterMut(tree::IterMut::new(self.tree_mut()))
    }

    /// Converts to a list of the members in order.
    fn into_list(self) -> Vec<Member> {
        match self.0 {
            Members::Packed(_) => {
                let members = self.iter();
                members
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect()
            }
            Members::Tree(members) => Arc::unwrap_or_clone(members).into_list(),
        }
    }

    /// Whether another object may share the members, so that they take no additional memory here.
    pub(super) fn is_shared(&self) -> bool {
        match &self.0 {
            Members::Packed(members) => ThinArc::strong_count(members) > 1,
            Members::Tree(members) => !members.is_unique(),
        }
    }

    /// Returns the address of the members, which identifies their storage.
    pub(super) fn address(&self) -> usize {
        match &self.0 {
            Members::Packed(members) => members.as_ptr().addr(),
            Members::Tree(members) => Arc::as_ptr(members).addr(),
        }
    }

    /// Retains the members for which the predicate is true.
    pub fn retain(&mut self, mut holds: impl FnMut(&Value, &mut Value) -> bool) {
        let mut members = std::mem::take(self).into_list();
        members.retain_mut(|(key, value)| holds(key, value));
        *self = Self::of_members(members);
    }
}

/// Iterator over the members in the order of their keys.
#[derive(Clone)]
pub struct Iter<'o>(Walk<'o>);

#[derive(Clone)]
enum Walk<'o> {
    Packed(Zip<slice::Iter<'o, Value>, slice::Iter<'o, Value>>),
    Tree(tree::Iter<'o, Member>),
}

impl<'o> Iterator for Iter<'o> {
    type Item = (&'o Value, &'o Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Packed(members) => members.next(),
            Walk::Tree(members) => members.next().map(|(key, value)| (key, value)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::Packed(members) => members.size_hint(),
            Walk::Tree(members) => members.size_hint(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// Iterator over the members in the order of their keys, with mutable values.
pub struct IterMut<'o>(tree::IterMut<'o, Member>);

impl<'o> Iterator for IterMut<'o> {
    type Item = (&'o Value, &'o mut Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (&*key, value))
    }
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl<'o> IntoIterator for &'o Object {
    type Item = (&'o Value, &'o Value);
    type IntoIter = Iter<'o>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'o> IntoIterator for &'o mut Object {
    type Item = (&'o Value, &'o mut Value);
    type IntoIter = IterMut<'o>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl IntoIterator for Object {
    type Item = (Value, Value);
    type IntoIter = std::vec::IntoIter<Member>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_list().into_iter()
    }
}

impl<K: Into<Value>> FromIterator<(K, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(members: I) -> Self {
        let members = members.into_iter();
        Self::of_members(members.map(|(key, value)| (key.into(), value)).collect())
    }
}

impl<K: Into<Value>> Extend<(K, Value)> for Object {
    fn extend<I: IntoIterator<Item = (K, Value)>>(&mut self, members: I) {
        for (key, value) in members {
            self.insert(key, value);
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.clone()).finish()
    }
}

impl fmt::Debug for IterMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterMut").finish_non_exhaustive()
    }
}
