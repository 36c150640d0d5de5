//! Names of members in JSON, where the name for a key that is not a string is its JSON text.
//!
//! Different keys can have the same name, such as `1` and `"1"`. An object is written with unique
//! names: of members with the same name, the last in the order of the keys counts.

use std::collections::hash_map::{Entry, RandomState};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use super::write::Writer;
use super::{Object, TooLong, Value};
use crate::hash::HashMap;

/// Whether keys of an object may have the same name. Strings among themselves have distinct names,
/// and so do null, booleans and numbers.
fn may_meet(members: &Object) -> bool {
    let named = |key: &Value| matches!(key, Value::String(_));
    let plain = |key: &Value| matches!(key, Value::Null | Value::Bool(_) | Value::Number(_));
    !members.all_keys(named) && !members.all_keys(plain)
}

/// Returns the members that are written to JSON, if some are not; `None` if all are. Objects with
/// only string keys are not copied.
///
/// # Errors
/// If the names together take more than `limit` bytes.
pub(super) fn written(members: &Object, limit: usize) -> Result<Option<Object>, TooLong> {
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
    let shown = members.iter().enumerate();
    let shown = shown.filter(|(at, _)| hidden.binary_search(at).is_err());
    let shown = shown.map(|(_, (key, value))| (key.clone(), value.clone()));
    Ok(Some(Object::of_members(shown.collect())))
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

impl Value {
    /// Returns the value without members that are not written because later ones have the same
    /// name, if it has any.
    pub fn with_distinct_names(&self) -> Option<Self> {
        Distinct::default().value(self)
    }
}

/// Removes members that are not written to JSON. Results for shared parts are cached by address.
#[derive(Default)]
struct Distinct(HashMap<usize, Option<Value>>);

impl Distinct {
    fn value(&mut self, value: &Value) -> Option<Value> {
        let (address, is_shared) = match value {
            Value::Array(items) => (items.address(), items.is_shared()),
            Value::Object(members) => (members.address(), members.is_shared()),
            Value::Set(members) => (Arc::as_ptr(members).addr(), Arc::strong_count(members) > 1),
            _ => return None,
        };
        if let Some(known) = self.0.get(&address).filter(|_| is_shared) {
            return known.clone();
        }
        let changed = stacker::maybe_grow(64 << 10, 1 << 20, || self.parts(value));
        if is_shared {
            self.0.insert(address, changed.clone());
        }
        changed
    }

    fn parts(&mut self, value: &Value) -> Option<Value> {
        match value {
            Value::Array(items) if !items.is_lazy() => {
                let changed = self.items(items.iter())?;
                Some(Value::from(changed))
            }
            // A set becomes a list: different members can have the same JSON form.
            Value::Set(members) => {
                let changed = self.items(members.iter())?;
                Some(Value::from(changed))
            }
            Value::Object(members) if !members.is_lazy() => {
                let kept = written(members, usize::MAX).ok().flatten();
                let before = kept.as_ref().unwrap_or(members);
                let Some(values) = self.items(before.values()) else {
                    return kept.map(Value::from);
                };
                let changed = before.keys().cloned().zip(values);
                Some(Value::from(Object::of_members(changed.collect())))
            }
            _ => None,
        }
    }

    /// Returns all values, some of them changed; `None` if no value changes.
    fn items<'v>(&mut self, items: impl Iterator<Item = &'v Value> + Clone) -> Option<Vec<Value>> {
        let mut changed: Option<Vec<Value>> = None;
        for (at, item) in items.clone().enumerate() {
            let new = self.value(item);
            match (&mut changed, new) {
                (Some(changed), new) => changed.push(new.unwrap_or_else(|| item.clone())),
                (None, Some(new)) => {
                    let mut before: Vec<_> = items.clone().take(at).cloned().collect();
                    before.push(new);
                    changed = Some(before);
                }
                (None, None) => {}
            }
        }
        changed
    }
}
