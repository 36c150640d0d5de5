//! Objects and sets.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::Value;
use super::members::{Iter, IterMut, Member, Members};

/// The members of an object, in the order of their keys. Documents have only strings as keys;
/// policies make objects with any.
///
/// A clone shares the original: a change to one of a million members copies a few hundred, and
/// no list of few members is larger than it has to be.
#[derive(Clone, Default)]
pub struct Object(Members);

/// The members of a set, in their order.
pub type Set = BTreeSet<Value>;

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// An object of these members in any order. Of members with the same key the last one counts.
    pub fn of_members(mut members: Vec<(Value, Value)>) -> Self {
        let ordered = |pair: &[Member]| match pair {
            [(left, _), (right, _)] => left < right,
            _ => true,
        };
        if !members.windows(2).all(ordered) {
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            members.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(&mut later.1, &mut earlier.1);
                }
                same
            });
        }
        Self(Members::of_sorted(members))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of the member with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.0.find(|key| key.compare_text(name));
        found.map(|(_, value)| value)
    }

    /// The value of the member with this name, to change.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        // Nothing is copied for a member that is not there.
        self.get(name)?;
        self.0.find_mut(|key| key.compare_text(name))
    }

    /// The value of the member with this key.
    pub fn get_value(&self, key: &Value) -> Option<&Value> {
        self.get_member(key).map(|(_, value)| value)
    }

    /// The member with this key, with the key as it was first written: `1` finds `1.0`.
    pub fn get_member(&self, key: &Value) -> Option<(&Value, &Value)> {
        let found = self.0.find(|known| known.cmp(key));
        found.map(|(key, value)| (key, value))
    }

    /// Whether there is a member with this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value of the member with this key, to change.
    pub fn get_value_mut(&mut self, key: &Value) -> Option<&mut Value> {
        self.get_value(key)?;
        self.0.find_mut(|known| known.cmp(key))
    }

    /// Sets a member; what was there before is the answer.
    pub fn insert(&mut self, key: impl Into<Value>, value: Value) -> Option<Value> {
        self.0.insert(key.into(), value)
    }

    /// Removes a member; what was there is the answer.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.get(name)?;
        let removed = self.0.remove(&|key: &Value| key.compare_text(name));
        removed.map(|(_, value)| value)
    }

    /// Removes the member with this key; what was there is the answer.
    pub fn remove_value(&mut self, key: &Value) -> Option<Value> {
        self.get_value(key)?;
        let removed = self.0.remove(&|known: &Value| known.cmp(key));
        removed.map(|(_, value)| value)
    }

    /// The value of a member, which is made if it is missing.
    pub fn get_or_insert_with(
        &mut self,
        key: impl Into<Value>,
        make: impl FnOnce() -> Value,
    ) -> &mut Value {
        let key = key.into();
        if self.get_value(&key).is_none() {
            self.insert(key.clone(), make());
        }
        match self.0.find_mut(|known| known.cmp(&key)) {
            Some(value) => value,
            None => unreachable!("the member is there or has just been put there"),
        }
    }

    /// The members in the order of their keys.
    pub fn iter(&self) -> Iter<'_> {
        Iter::new(&self.0)
    }

    /// The keys in their order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Value> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The values in the order of their keys, to change.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// The members in the order of their keys, the values to change.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        IterMut::new(&mut self.0)
    }

    /// Keeps the members for which this holds.
    pub fn retain(&mut self, mut holds: impl FnMut(&Value, &mut Value) -> bool) {
        let mut members = std::mem::take(&mut self.0).into_list();
        members.retain_mut(|(key, value)| holds(key, value));
        self.0 = Members::of_sorted(members);
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
        self.0.into_list().into_iter()
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

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Object {}

impl PartialOrd for Object {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Object {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}
