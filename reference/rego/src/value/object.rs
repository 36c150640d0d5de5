//! The members of objects and sets, in the order of values.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, btree_map};

use super::Value;

/// The members of an object, in the order of their keys. Documents have only strings as keys;
/// policies make objects with any.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object(BTreeMap<Value, Value>);

/// The members of a set, in their order.
pub type Set = BTreeSet<Value>;

/// What finds a member: a value, or a string that need not become one first.
trait Key {
    fn compare(&self, other: &Value) -> Ordering;
    fn text(&self) -> Option<&str>;
    fn value(&self) -> Option<&Value>;
}

impl Key for Value {
    fn compare(&self, other: &Value) -> Ordering {
        self.cmp(other)
    }
    fn text(&self) -> Option<&str> {
        None
    }
    fn value(&self) -> Option<&Value> {
        Some(self)
    }
}

impl Key for &str {
    fn compare(&self, other: &Value) -> Ordering {
        other.compare_text(self).reverse()
    }
    fn text(&self) -> Option<&str> {
        Some(self)
    }
    fn value(&self) -> Option<&Value> {
        None
    }
}

impl<'k> Borrow<dyn Key + 'k> for Value {
    fn borrow(&self) -> &(dyn Key + 'k) {
        self
    }
}

impl PartialEq for dyn Key + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for dyn Key + '_ {}

impl PartialOrd for dyn Key + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn Key + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        match (other.value(), self.value()) {
            (Some(other), _) => self.compare(other),
            (None, Some(value)) => other.compare(value).reverse(),
            (None, None) => self.text().cmp(&other.text()),
        }
    }
}

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of the member with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(&name as &dyn Key)
    }

    /// The value of the member with this name, to change.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0.get_mut(&name as &dyn Key)
    }

    /// The value of the member with this key.
    pub fn get_value(&self, key: &Value) -> Option<&Value> {
        self.0.get(key)
    }

    /// Whether there is a member with this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value of the member with this key, to change.
    pub fn get_value_mut(&mut self, key: &Value) -> Option<&mut Value> {
        self.0.get_mut(key)
    }

    /// Sets a member; what was there before is the answer.
    pub fn insert(&mut self, key: impl Into<Value>, value: Value) -> Option<Value> {
        self.0.insert(key.into(), value)
    }

    /// Removes a member; what was there is the answer.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.remove(&name as &dyn Key)
    }

    /// The value of a member, which is made if it is missing.
    pub fn get_or_insert_with(
        &mut self,
        key: impl Into<Value>,
        make: impl FnOnce() -> Value,
    ) -> &mut Value {
        self.0.entry(key.into()).or_insert_with(make)
    }

    /// The members in the order of their keys.
    pub fn iter(&self) -> btree_map::Iter<'_, Value, Value> {
        self.0.iter()
    }

    /// The keys in their order.
    pub fn keys(&self) -> btree_map::Keys<'_, Value, Value> {
        self.0.keys()
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> btree_map::Values<'_, Value, Value> {
        self.0.values()
    }
}

impl Object {
    /// The values in the order of their keys, to change.
    pub fn values_mut(&mut self) -> btree_map::ValuesMut<'_, Value, Value> {
        self.0.values_mut()
    }

    /// The members in the order of their keys, the values to change.
    pub fn iter_mut(&mut self) -> btree_map::IterMut<'_, Value, Value> {
        self.0.iter_mut()
    }

    /// Keeps the members for which this holds.
    pub fn retain(&mut self, holds: impl FnMut(&Value, &mut Value) -> bool) {
        self.0.retain(holds);
    }
}

impl<'o> IntoIterator for &'o Object {
    type Item = (&'o Value, &'o Value);
    type IntoIter = btree_map::Iter<'o, Value, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl IntoIterator for Object {
    type Item = (Value, Value);
    type IntoIter = btree_map::IntoIter<Value, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Into<Value>> FromIterator<(K, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(members: I) -> Self {
        let members = members.into_iter();
        Self(members.map(|(key, value)| (key.into(), value)).collect())
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
        self.0.fmt(f)
    }
}
