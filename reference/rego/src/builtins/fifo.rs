//! FIFO cache.

use std::collections::BTreeMap;
use std::hash::Hash;

use crate::hash::HashMap;

/// FIFO cache with a limit on its total size and a limit on its number of entries.
#[derive(Debug)]
pub(super) struct Fifo<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// Keys by entry number, the oldest first.
    order: BTreeMap<u64, K>,
    last: u64,
    size: usize,
    limit: usize,
    max_entries: usize,
}

#[derive(Debug)]
struct Entry<V> {
    number: u64,
    size: usize,
    value: V,
}

impl<K: Clone + Eq + Hash, V> Fifo<K, V> {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            entries: HashMap::default(),
            order: BTreeMap::new(),
            last: 0,
            size: 0,
            limit,
            max_entries: usize::MAX,
        }
    }

    /// Sets the maximum number of entries.
    pub(super) fn at_most(mut self, maximum: usize) -> Self {
        self.max_entries = maximum;
        self
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    pub(super) fn remove(&mut self, key: &K) {
        if let Some(entry) = self.entries.remove(key) {
            self.size -= entry.size;
            self.order.remove(&entry.number);
        }
    }

    /// Inserts or replaces an entry. An entry larger than the size limit is not stored.
    pub(super) fn put(&mut self, key: K, value: V, size: usize) {
        self.remove(&key);
        if size > self.limit {
            return;
        }
        self.last += 1;
        let number = self.last;
        self.size = self.size.saturating_add(size);
        self.order.insert(number, key.clone());
        let entry = Entry {
            number,
            size,
            value,
        };
        self.entries.insert(key, entry);
        self.shrink();
    }

    pub(super) fn limit(&mut self, limit: usize) {
        self.limit = limit;
        self.shrink();
    }

    pub(super) fn limit_entries(&mut self, maximum: usize) {
        self.max_entries = maximum;
        self.shrink();
    }

    /// Removes the entries whose values do not satisfy the predicate.
    pub(super) fn retain(&mut self, stays: impl Fn(&V) -> bool) {
        let evicted = self.entries.iter();
        let evicted = evicted.filter(|(_, entry)| !stays(&entry.value));
        let evicted: Vec<K> = evicted.map(|(key, _)| key.clone()).collect();
        for key in evicted {
            self.remove(&key);
        }
    }

    pub(super) fn shrink(&mut self) {
        while (self.size > self.limit || self.entries.len() > self.max_entries)
            && let Some(oldest) = self.order.values().next().cloned()
        {
            self.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room() {
        let mut fifo = Fifo::new(10);
        let puts = [("a", 4), ("b", 4), ("a", 5), ("c", 11), ("d", 1), ("e", 2)];
        let left = [
            vec!["a"],
            vec!["a", "b"],
            vec!["a", "b"],
            vec!["a", "b"],
            vec!["a", "b", "d"],
            vec!["a", "d", "e"],
        ];
        for ((key, size), left) in puts.into_iter().zip(left) {
            fifo.put(key, size, size);
            let mut keys: Vec<&str> = fifo.entries.keys().copied().collect();
            keys.sort_unstable();
            assert_eq!(keys, left, "after {key}");
            let sizes: usize = fifo.entries.values().map(|entry| entry.value).sum();
            assert_eq!(fifo.size, sizes, "after {key}");
            assert_eq!(fifo.order.len(), keys.len(), "after {key}");
        }
        fifo.limit(3);
        assert_eq!((fifo.get(&"a"), fifo.get(&"d")), (None, Some(&1)));
        fifo.retain(|value| *value > 1);
        assert_eq!((fifo.get(&"d"), fifo.get(&"e")), (None, Some(&2)));
        fifo.limit(0);
        assert_eq!((fifo.size, fifo.entries.len(), fifo.order.len()), (0, 0, 0));
    }
}
