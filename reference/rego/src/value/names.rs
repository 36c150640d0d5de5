//! Names of members in JSON, where the name for a key that is not a string is its JSON text.
//!
//! Different keys can have the same name, such as `1` and `"1"`. An object is written with unique
//! names: of members with the same name, the last in the order of the keys counts.

use std::sync::Arc;

use super::write::distinct_members;
use super::{Object, Value};
use crate::hash::HashMap;

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
                let distinct = distinct_members(members, usize::MAX).ok().flatten();
                let before = distinct.as_ref().unwrap_or(members);
                let Some(values) = self.items(before.values()) else {
                    return distinct.map(Value::from);
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
