//! Memoization of rule results within one evaluation.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::Value;
use crate::compile::rule_tree::RuleSet;

/// Memoized values of rules and calls, separate for each scope of `with`, in which values may
/// differ.
#[derive(Debug, Default)]
pub(super) struct Memos {
    current: Frame,
    outer: Vec<Frame>,
}

/// Memo key for a part of a partial rule's document: the steps to the part, and the further steps,
/// as far as they are known, to which its content was restricted.
pub(super) type PartKey = (Vec<Value>, Vec<Option<Value>>);

#[derive(Debug, Default)]
struct Frame {
    complete: HashMap<usize, Option<Value>, BuildHasherDefault<AddressHasher>>,
    calls: HashMap<usize, BTreeMap<Arc<[Value]>, Value>, BuildHasherDefault<AddressHasher>>,
    partial: HashMap<usize, BTreeMap<PartKey, Value>, BuildHasherDefault<AddressHasher>>,
}

/// Maximum capacity of each map that is reused by the next evaluation.
const MAX_CAPACITY: usize = 64;

impl Memos {
    /// Removes all entries; retains small allocations.
    pub(super) fn clear(&mut self) {
        let Frame {
            complete,
            calls,
            partial,
        } = &mut self.current;
        let capacities = [complete.capacity(), calls.capacity(), partial.capacity()];
        if capacities.iter().any(|capacity| *capacity > MAX_CAPACITY) {
            *self = Self::default();
            return;
        }
        complete.clear();
        calls.clear();
        partial.clear();
        self.outer.clear();
    }

    /// Enters a scope without memoized values.
    pub(super) fn push(&mut self) {
        self.outer.push(std::mem::take(&mut self.current));
    }

    /// Returns to the outer scope.
    pub(super) fn pop(&mut self) {
        self.current = self.outer.pop().unwrap_or_default();
    }

    /// Returns the memoized value of complete rules; `Some(None)` for a memo that they are
    /// undefined.
    pub(super) fn complete(&self, set: &RuleSet) -> Option<Option<&Value>> {
        let known = self.current.complete.get(&address(set));
        known.map(Option::as_ref)
    }

    /// Memoizes the value of complete rules, or that they are undefined.
    pub(super) fn put_complete(&mut self, set: &RuleSet, value: Option<Value>) {
        self.current.complete.insert(address(set), value);
    }

    /// Whether any call of a function is memoized.
    pub(super) fn knows_calls(&self, set: &RuleSet) -> bool {
        self.current.calls.contains_key(&address(set))
    }

    /// Returns the memoized value of a call.
    pub(super) fn call(&self, set: &RuleSet, args: &[Value]) -> Option<Value> {
        self.current.calls.get(&address(set))?.get(args).cloned()
    }

    /// Memoizes the value of a call.
    pub(super) fn put_call(&mut self, set: &RuleSet, args: &Arc<[Value]>, value: Value) {
        let calls = self.current.calls.entry(address(set)).or_default();
        calls.insert(args.clone(), value);
    }

    /// Returns a memoized part of the document of partial rules.
    pub(super) fn partial(&self, set: &RuleSet, part: &PartKey) -> Option<Value> {
        self.current.partial.get(&address(set))?.get(part).cloned()
    }

    /// Memoizes a part of the document of partial rules.
    pub(super) fn put_partial(&mut self, set: &RuleSet, part: PartKey, value: Value) {
        let parts = self.current.partial.entry(address(set)).or_default();
        parts.insert(part, value);
    }
}

/// Identifies rules by their address: the policy outlives the evaluation.
fn address(set: &RuleSet) -> usize {
    std::ptr::from_ref(set).addr()
}

/// Hasher for addresses, which are neither secret nor chosen by an attacker.
#[derive(Debug, Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, value: usize) {
        let mixed = (self.0 ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
